import { type Bill, type BillLine, billOf } from './bill.ts';
import type { Offer } from './compare.ts';
import { leverFor } from './levers.ts';
import type { NodeDoor } from './node-door.ts';
import type { Operation, OperationName } from './operation.ts';
import type { UsageName } from './usage.ts';

/** The findings for the reader of a bill. */
export interface Finding {
  /** The largest line; none on an empty bill. */
  readonly largest: BillLine | undefined;
  /** The operation that causes most of that line, if it is known. */
  readonly cause: OperationName | undefined;
  /** The finding in sentences: the largest line, a way to lower it, and cheaper services. */
  readonly sentences: readonly string[];
}

/** The context of a bill. */
export interface Surroundings {
  readonly operations?: readonly Operation[];
  readonly offers?: readonly Offer[];
  readonly nodeDoor?: NodeDoor;
}

/** Names the largest line and what would lower it, and says if another service would be cheaper. */
export function findingOf(bill: Bill, { operations = [], offers = [], nodeDoor }: Surroundings): Finding {
  const [largest] = bill.lines;
  if (largest === undefined) return { largest, cause: undefined, sentences: ['Nothing was used.'] };
  const cause = causeOf(largest, operations);
  const percent = Math.round(largest.share * 100);
  return {
    largest,
    cause,
    sentences: [
      `The largest line is "${largest.label}": ${usdText(largest.usd)}, ${percent}% of the bill${causeText(cause)}.`,
      leverFor(largest.usage, cause),
      ...nodeDoorSentences(bill, nodeDoor),
      ...offerSentences(bill, offers),
    ],
  };
}

/** The operation with the largest part of a line. */
function causeOf({ usage }: BillLine, operations: readonly Operation[]): OperationName | undefined {
  if (usage === undefined) return undefined;
  const part = (operation: Operation) => usdWithin(operation, usage);
  const [first] = [...operations].sort((a, b) => part(b) - part(a));
  return first !== undefined && part(first) > 0 ? first.name : undefined;
}

function usdWithin(operation: Operation, usage: UsageName): number {
  return billOf({ [usage]: operation.usage[usage] }).usd;
}

const CAUSES: { readonly [K in OperationName]: string } = {
  online: 'being connected',
  connect: 'connecting',
  subscribe: 'subscribing',
  disconnect: 'disconnecting',
  heartbeat: 'the heartbeats of idle clients',
  move: 'moving sessions before the gateway ends their connections',
  resume: 'sessions that go on after a lost connection',
  loss: 'lost connections whose clients connect anew',
  publish: 'publishing',
  deliver: 'delivering',
  'fan-out': 'the workers of wide filters',
  keep: 'messages that are kept until they are acknowledged',
  drain: 'messages for clients that are away',
  append: 'appending messages to streams',
  recover: 'readers of streams that are sent what they have missed',
  snapshot: 'readers of streams that are sent the last value of each key',
  history: 'the history of streams',
  kafka: 'records of Kafka',
  'iot-core': 'messages of AWS IoT Core',
  rules: 'messages that leave by rules',
  sweep: 'the sweep, which reads all sessions every ten minutes',
  figures: 'figures that Prometheus or an Admin view asks for',
  standing: 'what is paid for whether or not anybody connects',
};

function causeText(cause: OperationName | undefined): string {
  return cause === undefined ? '' : `, mostly from ${CAUSES[cause]}`;
}

function nodeDoorSentences(bill: Bill, nodeDoor: NodeDoor | undefined): readonly string[] {
  if (nodeDoor === undefined) return [];
  const { usd, machine, misfits } = nodeDoor;
  if (misfits.length > 0) return [`The node door on one ${machine.name} is no choice: ${misfits.join(' ')}`];
  if (usd >= bill.usd) {
    return [
      `The node door on a machine of your own (${machine.name}) would cost ${usdText(usd)} a month: no less.`,
    ];
  }
  return [
    `The node door on a machine of your own (${machine.name}) would cost ${usdText(usd)} a month, ${usdText(bill.usd - usd)} less: one process, and no other takes over when it fails.`,
  ];
}

function offerSentences(bill: Bill, offers: readonly Offer[]): readonly string[] {
  const cheaper = offers.filter((offer) => offer.bill.usd < bill.usd);
  if (offers.length > 0 && cheaper.length === 0) {
    const services = offers.map(({ service }) => service).join(', ');
    return [`None of ${services} would be cheaper by its published prices.`];
  }
  return cheaper.map(({ service, bill: other, misfits }) => {
    const but = misfits.length > 0 ? ` But: ${misfits.join(' ')}` : '';
    return `${service} would be cheaper by its published prices: ${usdText(other.usd)}.${but}`;
  });
}

/** Dollars for people: cents, and below a cent as many digits as are significant. */
export function usdText(usd: number): string {
  if (usd === 0 || usd >= 0.1)
    return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${usd.toLocaleString('en', { maximumSignificantDigits: 3, maximumFractionDigits: 20 })}`;
}
