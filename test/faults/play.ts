import type { DynamoDbFaults } from '@apus/emulated-aws';
import type { Alterations } from '../cloud/options.ts';
import type { InProcessWorld } from '../cloud/start-cloud-in-process.ts';
import { audienceOf, type Books, castOf, subscribeAll } from './cast.ts';
import { ConflatedReaders } from './conflated-readers.ts';
import { DEFAULT_RATES, FaultPlan, kindOfFault, type Rates } from './fault-plan.ts';
import { GapLedger } from './gap-ledger.ts';
import { Guests } from './guests.ts';
import { Ledger, type Problem } from './ledger.ts';
import { OutsideWorld } from './outside-world.ts';
import { Rooms } from './rooms.ts';
import { hasConflated, hasOutside, hasRoom, type Size } from './size.ts';
import {
  comeToRest,
  type Patience,
  PublishedNumbers,
  perform,
  type Stage,
  type StageWorld,
} from './stage.ts';
import { activeMs, type Step, stepsOf } from './steps.ts';
import { PublishedToStreams } from './stream-ledger.ts';
import { StreamReaders } from './stream-readers.ts';
import type { HistoryTime } from './time.ts';
import { Trace } from './trace.ts';
import { traceStrike } from './trace-world.ts';
import { WillLedger } from './will-ledger.ts';

export const DEFAULT_SIZE: Size = { durationMs: 10_000, publishers: 3, subscribers: 4, members: 3 };

export interface HistoryOptions {
  readonly seed: number;
  readonly size?: Size;
  readonly rates?: Rates;
  /** @default those of the seed */
  readonly steps?: readonly Step[];
  /**
   * The faults that strike, by name.
   * @default those of the seed
   */
  readonly only?: ReadonlySet<string> | undefined;
  /** Subscribers that a filter's head holds. @default 2: some stand in shards, and are reached by workers */
  readonly inlineSubscribersMax?: number;
  /** Instead of DynamoDB's faults of the seed. */
  readonly store?: DynamoDbFaults;
  /** The longest that a frame, or an event, waits for its handler. @default 3 s */
  readonly lateInvocationMsMax?: number;
  readonly alterations?: Alterations | undefined;
  /** The usage of tenants is counted. @default false */
  readonly usage?: boolean;
  /** Called with the deployment on which the history is played. */
  readonly watched?: (world: InProcessWorld) => void;
  /** Called before anything happens; its mocks are restored at the end. */
  readonly install?: (() => void) | undefined;
}

export interface History {
  readonly seed: number;
  readonly steps: readonly Step[];
  /** The faults that struck, in order. */
  readonly struck: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** How often each kind of fault struck. */
  readonly faults: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
  readonly trace: Trace;
  /** Errors that functions threw. Some are expected while faults strike. */
  readonly failures: readonly string[];
}

/** The deployment that a history plays on, and its clock. */
export interface Theatre {
  readonly time: HistoryTime;
  readonly patience: Patience;
  open(plan: FaultPlan, trace: Trace, outside: OutsideWorld | undefined): Promise<StageWorld>;
}

/**
 * Clients publish, vanish, return and take over while the cloud fails; then the faults stop, and every promise has to
 * be kept.
 */
export async function play({ time, patience, open }: Theatre, options: HistoryOptions): Promise<History> {
  const { seed, size = DEFAULT_SIZE, steps = stepsOf(seed, size) } = options;
  const problems: Problem[] = [];
  const gaps = new GapLedger();
  const streams = new PublishedToStreams();
  const ledger = new Ledger(audienceOf(size));
  const handled = new Set<string>();
  const trace = new Trace(
    () => time.nowMs,
    (message) => {
      gaps.handled(message);
      streams.handled(message);
      // The transport has sent its frame again, without mqtt.js's knowledge.
      if (handled.has(message)) noteSentAgain(ledger, message);
      handled.add(message);
    },
  );
  const { rates = DEFAULT_RATES } = options;
  const plan = new FaultPlan({
    seed,
    // Records that come from outside keep the order of the environments' clocks (docs/bridges.md).
    rates: hasOutside(seed, size) ? { ...rates, 'clock-skew': 0 } : rates,
    only: options.only,
    lateInvocationMsMax: options.lateInvocationMsMax,
    onStrike: (strike) => traceStrike(trace, strike),
  });
  const books: Books = {
    ledger,
    wills: new WillLedger(),
    gaps,
    streams,
    trace,
    wrong: (what, about) => problems.push({ what, about }),
  };
  const outside = hasOutside(seed, size) ? new OutsideWorld(plan, ledger) : undefined;
  const world = await time.during(open(plan, trace, outside));
  const stage = setUp(world, seed, size, books, outside);
  const { cast, guests, readers, conflated, rooms } = stage;
  await time.during(subscribeAll(cast, books));
  await time.during(begin(readers, conflated, rooms));
  if (outside !== undefined) await time.during(outside.begin(world.emulator, books));
  plan.isActive = true;
  for (const step of steps) setTimeout(() => perform(step, stage), step.atMs);
  await time.advance(activeMs(seed, size));
  plan.isActive = false;
  plan.isOver = true;
  await comeToRest(time, stage, patience);
  // Only while they are connected: a guest whose connection has ended is promised nothing.
  problems.push(...(await problemsOf(stage)));
  const counts = countsOf(stage, plan);
  for (const client of [
    ...cast.all,
    cast.watcher,
    cast.listener,
    ...guests.clients,
    ...readers.clients,
    ...conflated.clients,
    ...rooms.clients,
    ...(outside?.clients ?? []),
  ])
    client.stop();
  outside?.stop();
  await time.advance(1_000);
  await world.stop();
  const { struck } = plan;
  const { failures } = world;
  return {
    seed,
    steps,
    struck,
    counts,
    faults: byKind(struck),
    problems,
    trace,
    failures,
  };
}

/** Only topics of state: others have payloads that are no numbers, and no probe checks their order. */
function noteSentAgain(ledger: Ledger, message: string): void {
  const [topic = '', number] = message.split('=');
  if (topic.startsWith('state/')) ledger.sentAgain(topic, Number(number));
}

function setUp(
  world: StageWorld,
  seed: number,
  size: Size,
  books: Books,
  outside: OutsideWorld | undefined,
): Stage {
  const published = new PublishedNumbers(size, books.ledger);
  const cast = castOf(world.emulator, size, books);
  const guests = new Guests(world.emulator, books, published);
  const readers = new StreamReaders(world.emulator, books);
  const conflated = new ConflatedReaders(world.emulator, books, hasConflated(seed, size));
  const rooms = new Rooms(world.emulator, books, hasRoom(seed, size));
  return { world, cast, guests, readers, conflated, rooms, outside, books, published };
}

/** Readers that stay have begun before the first fault. */
async function begin(...all: readonly { readonly hasBegun: boolean }[]): Promise<void> {
  while (!all.every(({ hasBegun }) => hasBegun)) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function problemsOf({
  world,
  books,
  guests,
  readers,
  conflated,
  rooms,
  outside,
}: Stage): Promise<Problem[]> {
  const dead = await world.deadLetters();
  return [
    ...books.ledger.problems,
    ...books.wills.problems,
    ...books.gaps.problems((topic) => books.ledger.acknowledgedOf(topic)),
    ...guests.problems,
    ...readers.problems,
    ...conflated.problems,
    ...rooms.problems,
    ...(outside?.problems ?? []),
    ...(dead > 0 ? [{ what: `${dead} dead letters`, about: '' }] : []),
  ];
}

function countsOf(
  { books, world, guests, readers, rooms, outside, cast }: Stage,
  { struck }: FaultPlan,
): Record<string, number> {
  const { events } = world.emulator.counters.snapshot();
  return {
    ...books.ledger.counts,
    wills: books.wills.counts.owed,
    probes: guests.owedProbes,
    readers: readers.all.length,
    /** Changes of members, but for those that come and go with connections. */
    said: rooms.said,
    /** Records from outside, and messages that rules have sent. */
    records: outside?.counts.records ?? 0,
    left: outside?.counts.left ?? 0,
    /** SUBACKs that reported a gap. */
    gapsTold: readers.gaps,
    /** Connections that the gateway cut at two hours. */
    agedConnections: events.connectionDurationOver ?? 0,
    moves: [...cast.all, ...guests.clients].reduce((sum, { moves }) => sum + moves, 0),
    readerMoves: readers.clients.reduce((sum, { moves }) => sum + moves, 0),
    resumes: [...cast.all, cast.listener, ...guests.clients].reduce((sum, { resumes }) => sum + resumes, 0),
    faults: struck.length,
  };
}

function byKind(struck: readonly string[]): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const name of struck) kinds[kindOfFault(name)] = (kinds[kindOfFault(name)] ?? 0) + 1;
  return kinds;
}
