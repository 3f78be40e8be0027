import { type BillOptions, billOfItems, type Item } from './bill.ts';
import type { Offer } from './compare.ts';
import { inEnglish } from './english.ts';
import { usdText } from './finding.ts';
import type { Traffic } from './traffic.ts';

export const OBJECT_DOOR = 'Apus, object door';

/** What an object of Cloudflare does, in what the platform bills. */
export interface ObjectUse {
  /** Handshakes. Each is a request of the Worker in front as well. */
  readonly requests: number;
  /** Messages that clients send. Those that the object sends are free. */
  readonly messages: number;
  readonly alarms: number;
  readonly rowsRead: number;
  /** Rows that were written or deleted, without those of alarms. */
  readonly rowsWritten: number;
  readonly alarmsSet: number;
  /** Transactions. */
  readonly commits: number;
  /** Messages that the object sends. */
  readonly framesOut: number;
  /** Time in which a timer keeps the object awake, in ms. */
  readonly awakeMs: number;
}

/** What operations at the object door use (`npm run bench:object`); a test compares them with its table. */
export const OBJECT_BUDGETS = {
  /** Of a client of one QoS, by the QoS. */
  messagesPerPublish: [1, 1, 2],
  messagesPerDelivery: [0, 1, 2],
  /** Of a message to a session that outlives its connection, by the QoS. */
  rowsPerKeptDelivery: [0, 2, 4],
  /** Of a message to several such sessions, which share its payload. */
  rowsPerSharedMessage: 2,
  /** CONNECT and DISCONNECT of such a session. */
  rowsPerKeptConnection: 2,
  rowsPerStreamedMessage: 1,
  alarmsPerHour: 79,
  /** Of a client that connects to an object without others, and leaves. */
  alarmsPerVisit: 2,
  /** Of usage, in an object with clients; and when the last one leaves. */
  usageRowsPerHour: 7,
  usageRowsPerVisit: 3,
} as const;

/** Twenty messages are one request. */
const MESSAGES_PER_REQUEST = 20;

/** Not measured: the platform bills the time of an event by its clock, in which none passes in the local runtime. */
const EVENT_MS = 1;
const FRAME_OUT_MS = 0.02;
const COMMIT_MS = 10;
const HANDSHAKE_CPU_MS = 1;

const OBJECT_GIGABYTES = 0.128;
const CONNECTIONS_MAX = 10_000;
const EVENTS_PER_SECOND_MAX = 1_000;
const PING_MINUTES = 1;
const HOUR_SECONDS = 3_600;
const MONTH_DAYS = 30;

/** What the Free plan allows in a day. */
const FREE_PLAN = { requests: 100_000, gigabyteSeconds: 13_000, rowsRead: 5_000_000, rowsWritten: 100_000 };

/** The items of a bill, without the plan. @param secondsMax an object cannot be awake for longer */
export function objectItems(use: ObjectUse, secondsMax = Number.POSITIVE_INFINITY): readonly Item[] {
  const { requests, messages, alarms, commits, framesOut } = use;
  const eventsMs = (requests + messages + alarms) * EVENT_MS;
  const ms = eventsMs + framesOut * FRAME_OUT_MS + commits * COMMIT_MS + use.awakeMs;
  const duration = Math.min(secondsMax, ms / 1_000) * OBJECT_GIGABYTES;
  const item = (label: string, price: Item['price'], quantity: number): Item => ({ label, price, quantity });
  return [
    item('Requests of objects', 'objectRequest', requests + alarms + messages / MESSAGES_PER_REQUEST),
    item('Duration, GB-seconds', 'objectDuration', duration),
    item('Rows read', 'objectRowRead', use.rowsRead),
    item('Rows written', 'objectRowWritten', use.rowsWritten + use.alarmsSet),
    item('Requests of the Worker', 'workerRequest', requests),
    item('Processor time of the Worker, ms', 'workerMillisecond', requests * HANDSHAKE_CPU_MS),
  ];
}

/** The object door, with the price that nothing is included in. */
export interface ObjectOffer extends Offer {
  /** Without the plan, and without what it includes. */
  readonly marginalUsd: number;
  /** The Free plan allows so much each day. */
  readonly isFree: boolean;
}

/** A month of the traffic in one object, by the Paid plan. `freeTiers`: by the Free plan, where that allows so much. */
export function objectDoor(traffic: Traffic, { freeTiers = false }: BillOptions = {}): ObjectOffer {
  const onlineSeconds = traffic.clients === 0 ? 0 : (traffic.connectionMinutes * 60) / traffic.clients;
  const use = useOf(traffic, onlineSeconds / HOUR_SECONDS);
  const items = objectItems(use, onlineSeconds);
  const marginalUsd = billOfItems(items).usd;
  const isFree = fitsFreePlan(items);
  const plan: Item = { label: 'Paid plan', price: 'workersPlan', quantity: 1 };
  return {
    service: OBJECT_DOOR,
    bill: billOfItems(freeTiers && isFree ? [] : [plan, ...items], { freeTiers: true }),
    marginalUsd,
    isFree,
    assumptions: assumptionsOf(marginalUsd, isFree),
    misfits: [
      ...(traffic.clients > CONNECTIONS_MAX
        ? [`An object takes ${inEnglish(CONNECTIONS_MAX)} connections.`]
        : []),
      ...(use.messages > EVENTS_PER_SECOND_MAX * onlineSeconds
        ? [`An object is meant for ${inEnglish(EVENTS_PER_SECOND_MAX)} messages in a second.`]
        : []),
    ],
  };
}

function useOf(traffic: Traffic, onlineHours: number): ObjectUse {
  const { connects, subscribes, publishes, deliveries, qos, persistentShare } = traffic;
  const budgets = OBJECT_BUDGETS;
  const pings = traffic.connectionMinutes / PING_MINUTES;
  // CONNECT and DISCONNECT.
  const ofConnections = 2 * connects + subscribes + pings;
  const kept = deliveries * persistentShare * budgets.rowsPerKeptDelivery[qos];
  const shared = kept > 0 && deliveries > publishes ? publishes * budgets.rowsPerSharedMessage : 0;
  const rowsWritten =
    kept +
    shared +
    connects * persistentShare * budgets.rowsPerKeptConnection +
    traffic.streamedMessages * budgets.rowsPerStreamedMessage +
    onlineHours * budgets.usageRowsPerHour +
    connects * budgets.usageRowsPerVisit;
  const alarms = onlineHours * budgets.alarmsPerHour + connects * budgets.alarmsPerVisit;
  return {
    requests: connects,
    messages:
      ofConnections +
      publishes * budgets.messagesPerPublish[qos] +
      deliveries * budgets.messagesPerDelivery[qos],
    alarms,
    rowsRead: rowsWritten,
    rowsWritten,
    alarmsSet: alarms,
    commits: rowsWritten,
    framesOut: deliveries * Math.max(1, qos) + publishes * qos + ofConnections,
    awakeMs: 0,
  };
}

function fitsFreePlan(items: readonly Item[]): boolean {
  const daily = (price: Item['price']) =>
    items.filter((item) => item.price === price).reduce((sum, { quantity }) => sum + quantity, 0) /
    MONTH_DAYS;
  return (
    daily('objectRequest') <= FREE_PLAN.requests &&
    daily('workerRequest') <= FREE_PLAN.requests &&
    daily('objectDuration') <= FREE_PLAN.gigabyteSeconds &&
    daily('objectRowRead') <= FREE_PLAN.rowsRead &&
    daily('objectRowWritten') <= FREE_PLAN.rowsWritten
  );
}

function assumptionsOf(marginalUsd: number, isFree: boolean): readonly string[] {
  return [
    `The Paid plan's $5 a month, and what is beyond the amounts that it includes; with nothing included the traffic is ${usdText(marginalUsd)}.${isFree ? ' The Free plan allows as much, day by day.' : ''}`,
    'Counted in the local runtime: events, rows, alarms, and that no timer keeps an object awake after its events (loadtest/results/object-operations.md). Nothing has run in an account of Cloudflare.',
    `Assumed: an event takes ${EVENT_MS} ms, each frame out ${FRAME_OUT_MS} ms more, a commit ${COMMIT_MS} ms; each client sends a PINGREQ a minute, although its traffic may replace it, and each packet is one message, as browsers send them.`,
    'One object has all clients, and its streams are small: storage is left out.',
  ];
}
