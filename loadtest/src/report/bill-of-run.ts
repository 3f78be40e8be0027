import {
  addUsage,
  type Bill,
  type BillLine,
  billOf,
  compare,
  type Estimate,
  estimate,
  type Floor,
  findingOf,
  type GatewayCounters,
  type Offer,
  type Traffic,
  type Usage,
  type UsageName,
  usageOf,
  usdPerMillion,
} from '@apus/cost';
import type { FrameCounts } from '../measure/index.ts';
import type { Plan } from '../scenario/plan.ts';
import type { Qos } from '../scenario/scenario.ts';
import type { Outcome } from './outcome.ts';

/** The counts of the gateway door's emulator at several moments of a run. */
export interface CountedRun {
  readonly before: GatewayCounters;
  /** The counts when all clients were connected, if the generator could tell. */
  readonly connected?: GatewayCounters;
  /** When the last message had come. */
  readonly drained?: GatewayCounters;
  readonly after: GatewayCounters;
}

export interface RunForBill {
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly seconds: RunSeconds;
  /** The frames that clients sent and received at the gateway door. */
  readonly frames?: FrameCounts | undefined;
  readonly counted?: CountedRun | undefined;
}

export interface RunSeconds {
  readonly connecting: number;
  readonly publishing: number;
  readonly draining: number;
}

/**
 * The source of a line: `counted` by the emulator while it ran; `measured` by the clients, as frames; `estimated` from
 * connections, publishes and deliveries.
 */
export type Basis = 'counted' | 'measured' | 'estimated';

export type RunLine = BillLine & { readonly basis: Basis };

/** The bill of a run at the gateway door, and elsewhere. */
export interface RunBill {
  readonly lines: readonly RunLine[];
  readonly usd: number;
  readonly usdPerMillionDeliveries: number | undefined;
  /**
   * The same without connecting, subscribing, disconnecting, and the minutes online, which weigh too much in a short
   * run.
   */
  readonly messagesUsdPerMillionDeliveries: number | undefined;
  readonly floor: Floor;
  readonly offers: readonly Offer[];
  readonly finding: readonly string[];
  readonly assumptions: readonly string[];
}

const COUNTED: readonly UsageName[] = [
  'gatewayMessagesIn',
  'gatewayMessagesOut',
  'connectionMinutes',
  'lambdaRequests',
  'lambdaGigabyteSeconds',
  'dataTransferOutBytes',
];

const MEASURED: readonly UsageName[] = ['gatewayMessagesIn', 'gatewayMessagesOut', 'dataTransferOutBytes'];

/** The operations on messages; the others are for connections. */
const MESSAGE_OPERATIONS: ReadonlySet<string> = new Set(['publish', 'deliver', 'fan-out', 'keep', 'drain']);

export function billOfRun(run: RunForBill): RunBill | undefined {
  const { outcome, counted, frames } = run;
  if (outcome.connections.connected === 0) return undefined;
  const estimated = estimateOfRun(run);
  const exact = exactUsage(counted, frames);
  const names = counted !== undefined ? COUNTED : frames !== undefined ? MEASURED : [];
  const used = withExact(estimated.usage, exact, names);
  const bill = billOf(used);
  const basis = counted !== undefined ? 'counted' : 'measured';
  const traffic = trafficOfRun(run, used.connectionMinutes);
  const offers = compare(traffic);
  const { received } = outcome.deliveries;
  return {
    lines: bill.lines.map((line) => ({ ...line, basis: isOneOf(names, line.usage) ? basis : 'estimated' })),
    usd: bill.usd,
    usdPerMillionDeliveries: usdPerMillion(bill.usd, received),
    messagesUsdPerMillionDeliveries: usdPerMillion(messagesBill(run, estimated).usd, received),
    floor: estimated.floor,
    offers,
    finding: findingOf(bill, { operations: estimated.operations, offers }).sentences,
    assumptions: estimated.assumptions,
  };
}

function isOneOf(names: readonly UsageName[], name: UsageName | undefined): boolean {
  return name !== undefined && names.includes(name);
}

function exactUsage(counted: CountedRun | undefined, frames: FrameCounts | undefined): Partial<Usage> {
  if (counted !== undefined) return difference(counted.before, counted.after);
  if (frames === undefined) return {};
  return {
    // No frame of a client is over 32 KB; the rest of the billed messages go the other way.
    gatewayMessagesIn: frames.framesSent,
    gatewayMessagesOut: frames.messagesBilled - frames.framesSent,
    dataTransferOutBytes: frames.bytesReceived,
  };
}

function difference(before: GatewayCounters, after: GatewayCounters): Usage {
  const from = usageOf(before);
  const to = usageOf(after);
  const entries = Object.entries(to).map(([name, value]) => [
    name,
    Math.max(0, value - from[name as UsageName]),
  ]);
  return Object.fromEntries(entries) as unknown as Usage;
}

function withExact(estimated: Usage, exact: Partial<Usage>, names: readonly UsageName[]): Usage {
  const entries = names.map((name) => [name, exact[name] ?? 0] as const);
  return { ...estimated, ...Object.fromEntries(entries) };
}

/** The bill of the messages alone: between the last SUBACK and the last delivery where that was counted. */
function messagesBill({ counted }: RunForBill, { operations }: Estimate): Bill {
  const estimated = addUsage(
    ...operations.filter(({ name }) => MESSAGE_OPERATIONS.has(name)).map(({ usage }) => usage),
  );
  const { connected, drained } = counted ?? {};
  if (connected === undefined || drained === undefined) return billOf(estimated);
  const exact = { ...difference(connected, drained), connectionMinutes: 0 };
  return billOf(withExact(estimated, exact, COUNTED));
}

/** The run as a workload: one day of this many seconds. */
function estimateOfRun(run: RunForBill): Estimate {
  const { plan, outcome } = run;
  const clients = outcome.connections.connected;
  const hours = onlineSeconds(run) / 3_600;
  const publishers = Math.min(clients, publisherCount(plan));
  const sent = outcome.publishes.sent;
  const group = plan.groups.find(({ publish }) => publish !== undefined);
  const subscriptions = plan.groups.reduce(
    (sum, { clients: members, subscribe }) => sum + members * (subscribe?.filters.length ?? 0),
    0,
  );
  return estimate({
    clients,
    hours,
    days: 1,
    connectsPerDay: 1,
    subscriptions: subscriptions / plan.clients,
    publisherShare: publishers / clients,
    publishesPerHour: publishers === 0 || hours === 0 ? 0 : sent / (publishers * hours),
    fanOut: sent === 0 ? 0 : outcome.deliveries.received / sent,
    qos: qosOf(plan),
    bytes: Math.min(24_000, group?.publish?.payloadBytes ?? 0),
    topicBytes: Math.max(1, group?.publish?.topic.length ?? 1),
    shapes: 1,
    persistentShare: outlivesConnections(plan) ? 1 : 0,
    packetsPerFrame: packingOf(run),
    fifoQueues: 0,
    standardQueues: 0,
  });
}

/** On average a client was there for half of the time in which all connected. */
function onlineSeconds({ seconds }: RunForBill): number {
  return Math.min(24 * 3_600, seconds.connecting / 2 + seconds.publishing + seconds.draining);
}

/** A reply takes as long as `estimate` assumes. */
const REPLY_SECONDS = 0.055;

/** While a client waits for a reply, its new packets wait for the next frame. */
function packingOf({ plan }: RunForBill): number {
  const perClient = plan.groups.map(({ publish }) => (publish?.perSecond ?? 0) * (publish?.topics ?? 0));
  return Math.max(1, Math.max(...perClient) * REPLY_SECONDS);
}

function publisherCount(plan: Plan): number {
  return plan.groups.reduce((sum, { clients, publish }) => sum + (publish === undefined ? 0 : clients), 0);
}

function outlivesConnections({ scenario }: Plan): boolean {
  return (scenario.sessionExpirySeconds > 0 && scenario.mqttVersion === '5') || !scenario.cleanStart;
}

function qosOf(plan: Plan): Qos {
  return Math.max(...plan.groups.map(({ publish }) => publish?.qos ?? 0)) as Qos;
}

function trafficOfRun(run: RunForBill, connectionMinutes: number): Traffic {
  const { plan, outcome, seconds } = run;
  const { received } = outcome.deliveries;
  const { sent } = outcome.publishes;
  const subscribers = plan.groups.filter(({ subscribe }) => subscribe !== undefined);
  const isAcknowledged = qosOf(plan) > 0 && subscribers.some(({ subscribe }) => (subscribe?.qos ?? 0) > 0);
  const acknowledged = isAcknowledged ? received : 0;
  const isKept = qosOf(plan) === 2 || outlivesConnections(plan);
  const group = plan.groups.find(({ publish }) => publish !== undefined);
  const streams = plan.groups.reduce((sum, each) => sum + each.streams, 0);
  const messageSeconds = Math.max(1, seconds.publishing);
  return {
    connectionMinutes,
    offlineSessionMinutes: 0,
    connects: outcome.connections.connected,
    subscribes: subscribers.reduce((sum, { clients }) => sum + clients, 0),
    savedSubscribes: 0,
    publishes: sent,
    deliveries: received,
    acknowledgedDeliveries: isKept ? acknowledged : 0,
    sparedAcknowledgements: isKept ? 0 : acknowledged,
    queuedDeliveries: 0,
    persistentShare: outlivesConnections(plan) ? 1 : 0,
    streamedMessages: 0,
    messageBytes: (group?.publish?.payloadBytes ?? 0) + (group?.publish?.topic.length ?? 0),
    topicMinutes: (streams * onlineSeconds(run)) / 60,
    clients: outcome.connections.connected,
    messagesPerSecond: (sent + received) / messageSeconds,
    qos: qosOf(plan),
  };
}
