import { type BillOptions, billOf } from './bill.ts';
import { compare } from './compare.ts';
import { estimate } from './estimate.ts';
import { type Machine, nodeDoor, SMALL_MACHINE } from './node-door.ts';
import { OBJECT_DOOR } from './object-door.ts';
import type { Program } from './programs.ts';

export const GATEWAY_DOOR = 'Apus, gateway door';
export const NODE_DOOR = 'Apus, node door';

/** A month of one program at one service. */
export interface Bid {
  readonly service: string;
  readonly usd: number;
  /** The reason why the service does not carry this traffic, if there is one. */
  readonly misfits: readonly string[];
}

/** Within these numbers of clients, both included, one service is the cheapest of those that carry the traffic. */
export interface CheapestRange {
  readonly from: number;
  readonly to: number;
  readonly service: string;
}

export interface BidOptions extends BillOptions {
  /** For the node door. @default `SMALL_MACHINE` */
  readonly machine?: Machine;
}

/** Programs are compared up to this size. */
export const CLIENTS_MAX = 1_000_000;

/** A month of the program at this size, at each service: the three doors, then the others by name. */
export function bidsFor(program: Program, clients: number, options: BidOptions = {}): readonly Bid[] {
  const { usage, traffic } = estimate(program.workload(clients));
  const machine = nodeDoor(traffic, options.machine ?? SMALL_MACHINE, options);
  const bids = compare(traffic, options).map(({ service, bill, misfits }) => ({
    service,
    usd: bill.usd,
    misfits,
  }));
  const others = bids.filter(({ service }) => service !== OBJECT_DOOR);
  return [
    { service: GATEWAY_DOOR, usd: billOf(usage, options).usd, misfits: [] },
    ...bids.filter(({ service }) => service === OBJECT_DOOR),
    { service: NODE_DOOR, usd: machine.usd, misfits: machine.misfits },
    ...others.sort((a, b) => a.service.localeCompare(b.service)),
  ];
}

/** The offers for a program by its number of clients. Each size is estimated once, however often it is asked for. */
export function bidsBySize(program: Program, options: BidOptions): (clients: number) => readonly Bid[] {
  return remembering((clients) => bidsFor(program, clients, options));
}

/**
 * The cheapest service by the number of clients, from 1 to `CLIENTS_MAX`. Six sizes of each power of ten are looked at,
 * and the sizes between two of them where the cheapest changes: a service that is the cheapest for a part of such a step
 * only may be missed.
 *
 * @param isAsked which services are compared. @default all
 */
export function rangesOf(
  bidsAt: (clients: number) => readonly Bid[],
  isAsked: (service: string) => boolean = () => true,
): readonly CheapestRange[] {
  const cheapestAt = remembering((clients) => {
    const carrying = bidsAt(clients).filter(
      ({ service, misfits }) => misfits.length === 0 && isAsked(service),
    );
    return carrying.reduce((best, each) => (each.usd < best.usd ? each : best)).service;
  });
  const ranges: CheapestRange[] = [];
  let from = 1;
  for (const size of steps()) {
    for (let change = firstChange(cheapestAt, from, size); change !== undefined; ) {
      ranges.push({ from, to: change - 1, service: cheapestAt(from) });
      from = change;
      change = firstChange(cheapestAt, from, size);
    }
  }
  return [...ranges, { from, to: CLIENTS_MAX, service: cheapestAt(from) }];
}

function remembering<Answer>(answer: (clients: number) => Answer): (clients: number) => Answer {
  const known = new Map<number, Answer>();
  return (clients) => {
    const found = known.get(clients) ?? answer(clients);
    known.set(clients, found);
    return found;
  };
}

const STEPS = [1.5, 2, 3, 5, 7, 10];

function* steps(): Generator<number> {
  for (let decade = 1; decade < CLIENTS_MAX; decade *= 10)
    yield* STEPS.map((step) => Math.ceil(step * decade));
}

/** The first size after `from` with another cheapest service, if the cheapest at `to` is another one. */
function firstChange(cheapestAt: (clients: number) => string, from: number, to: number): number | undefined {
  const first = cheapestAt(from);
  if (cheapestAt(to) === first) return undefined;
  let same = from;
  let other = to;
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (cheapestAt(middle) === first) same = middle;
    else other = middle;
  }
  return other;
}
