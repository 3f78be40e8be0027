import { Sequence } from '@apus/client/testing';
import type { Successor } from '../support/explore.ts';
import { ended } from './publishers.ts';
import {
  bit,
  type Configuration,
  type Heard,
  has,
  type Mutation,
  type Reader,
  type Suback,
  type World,
} from './world.ts';

const EPOCH = 'e';

/** The next steps of the reader, of its network and of the handler of its SUBSCRIBE. */
export function readerSteps(
  world: World,
  configuration: Configuration,
  mutation: Mutation | undefined,
): Successor<World>[] {
  return [
    ...subscribeSteps(world, configuration, mutation),
    ...arrivals(world, configuration, mutation),
    ...asks(world, configuration),
    ...faults(world),
  ];
}

const go = (
  world: World,
  label: string,
  change: Partial<Reader>,
  others: Partial<World> = {},
): Successor<World> => ({
  label: `the reader ${label}`,
  isFault: false,
  state: { ...world, ...others, reader: { ...world.reader, ...change } },
});

/** A SUBSCRIBE: its subscription is stored before the end of the log is read. */
function subscribeSteps(
  world: World,
  configuration: Configuration,
  mutation: Mutation | undefined,
): Successor<World>[] {
  const { reader } = world;
  const isEarly = mutation === 'reads-before-subscription';
  const stores = { subscribed: reader.connection };
  const suback = () => subackOf(world, configuration, mutation);
  if (reader.connection === 0) {
    const connection = reader.connections + 1;
    return [
      go(world, `connects, ${connection}, and asks`, { connection, connections: connection, step: 'came' }),
    ];
  }
  switch (reader.step) {
    case 'came':
      if (isEarly) return [go(world, 'is looked up', { step: 'subscribed', suback: suback() })];
      return [go(world, 'is stored', { step: 'subscribed' }, stores)];
    case 'subscribed':
      if (isEarly) return [go(world, 'is stored late', { step: 'read' }, stores)];
      return [go(world, 'is looked up', { step: 'read', suback: suback() })];
    case 'read':
      return reader.suback === undefined ? [] : [answered(world, reader.suback, configuration, mutation)];
    case 'none':
      return [];
  }
}

/** `join` and `readAtOnce` of the broker, for a door that keeps no readers. */
function subackOf(world: World, { reader: kind }: Configuration, mutation: Mutation | undefined): Suback {
  const { reader, log, forgotten } = world;
  const { number, stable } = reader.position;
  const isFloorless = kind === 'exact' || mutation === 'position-without-floor';
  const after = isFloorless ? (kind === 'exact' ? lastOf(reader) : number) : stable;
  const newest = log.length;
  const isRecovered = after >= forgotten;
  const past = Array.from({ length: newest - after }, (_, index) => after + 1 + index);
  if (isRecovered) return { isRecovered, newest, past };
  const kept = past.filter((each) => each > forgotten);
  if (mutation === 'true-over-a-hole') return { isRecovered: true, newest, past: kept };
  return { isRecovered, newest, past: newest > forgotten ? [newest] : [] };
}

function answered(
  world: World,
  { isRecovered, newest, past }: Suback,
  configuration: Configuration,
  mutation: Mutation | undefined,
): Successor<World> {
  const { reader } = world;
  const [first] = past;
  const begin = { kind: 'begin', after: first === undefined ? newest : first - 1, newest } as const;
  const arrived = past.map((number) => arrivalOf(world, number, true));
  const live = { ...reader, step: 'none', suback: undefined, isLive: true } as const;
  const after = hearing(live, [begin, ...arrived], configuration, mutation);
  const excused = isRecovered ? reader.excused : Math.max(reader.excused, newest);
  return go(world, `is told ${isRecovered}, ${newest}, and given ${past.join(' ')}`, { ...after, excused });
}

/** Posts come in any order, but none ten seconds late: behind a message that names it as stable. */
function arrivals(
  world: World,
  configuration: Configuration,
  mutation: Mutation | undefined,
): Successor<World>[] {
  const { reader, posted } = world;
  // The transport holds them back behind SUBACK.
  const isHeld = reader.step !== 'none' && mutation !== 'pushes-before-suback';
  if (!reader.isLive || isHeld) return [];
  return world.log.flatMap((entry, index) => {
    const number = index + 1;
    if (!has(posted, number)) return [];
    const isLate = world.log.some(
      ({ message }, at) => at !== index && has(posted, at + 1) && has(entry.over, message),
    );
    if (isLate && mutation !== 'posts-without-end') return [];
    const after = hearing(reader, [arrivalOf(world, number, false)], configuration, mutation);
    return go(world, `gets ${number}`, after, { posted: posted & ~bit(number) });
  });
}

function arrivalOf({ log }: World, number: number, isPast: boolean): Heard {
  const { stable = 0 } = log[number - 1] ?? {};
  return { kind: 'arrival', number, stable, isPast };
}

/** An exact reader that holds messages asks for those before them; at any other time too. */
function asks(world: World, { reader: kind }: Configuration): Successor<World>[] {
  const { reader } = world;
  if (kind !== 'exact' || !reader.isLive || reader.step !== 'none') return [];
  const isHolding = played(reader.heard).sequence.heldCount > 0;
  if (!isHolding && world.asks === 0) return [];
  const left = isHolding ? world.asks : world.asks - 1;
  const heard = [...reader.heard, { kind: 'drop' } as const];
  return [go(world, 'asks once more', { step: 'came', heard }, { asks: left })];
}

function faults(world: World): Successor<World>[] {
  const { reader, cuts, truncations, forgotten, log } = world;
  const all: Successor<World>[] = [];
  if (cuts > 0 && reader.connection > 0)
    all.push({
      label: 'the connection ends',
      isFault: true,
      state: { ...world, ...ended(world), cuts: cuts - 1 },
    });
  if (truncations > 0 && forgotten < log.length) {
    const state = { ...world, forgotten: forgotten + 1, truncations: truncations - 1 };
    all.push({ label: `${forgotten + 1} is handed out no more`, isFault: true, state });
  }
  return all;
}

/** The reader's state after a further event. */
function hearing(
  reader: Reader,
  more: readonly Heard[],
  { reader: kind }: Configuration,
  mutation: Mutation | undefined,
): Partial<Reader> {
  const numbers = more.flatMap((each) => (each.kind === 'arrival' ? each : []));
  if (kind === 'bare' || mutation === 'no-order') {
    const last = numbers.at(-1);
    const seen = [...reader.seen, ...numbers.map(({ number }) => number)];
    const position = last ?? reader.position;
    const { number, stable } = position;
    return { ...reader, seen, position: { number, stable } };
  }
  const heard = [...reader.heard, ...more];
  return { ...reader, heard, seen: played(heard).seen };
}

/** The number behind which an exact reader asks. */
function lastOf({ heard }: Reader): number {
  return Number(played(heard).sequence.position.split('-')[1]);
}

/** The transport's own code, after the same events. */
export function played(heard: readonly Heard[]): { readonly sequence: Sequence; readonly seen: number[] } {
  const sequence = new Sequence(EPOCH);
  const seen: number[] = [];
  for (const each of heard) {
    if (each.kind === 'begin') sequence.begin({ epoch: EPOCH, after: each.after, newest: each.newest });
    else if (each.kind === 'drop') sequence.dropHeld();
    else {
      const { number, stable, isPast } = each;
      const position = { epoch: EPOCH, number, stable, topic: undefined };
      sequence.take({ position, isPast, handOver: () => seen.push(number) });
    }
  }
  return { sequence, seen };
}
