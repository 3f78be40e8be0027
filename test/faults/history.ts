import { claimsAuthorizer } from '@apus/cloud';
import { PacketDecoder } from '@apus/mqtt';
import type { Alterations } from '../cloud/options.ts';
import { type InProcessWorld, startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { AUTHENTICATOR, audienceOf, type Books, type Cast, castOf, subscribeAll } from './cast.ts';
import { seededRandom } from './draws.ts';
import { DEFAULT_RATES, FaultPlan, type Rates, type Strike } from './fault-plan.ts';
import { Guests, type Published } from './guests.ts';
import { Ledger, type Problem } from './ledger.ts';
import { type Size, STATE_FILTERS, type Step, stepsOf } from './steps.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';
import { WillLedger } from './will-ledger.ts';

/** Some of the subscribers stand in shards, and are reached by workers. */
const INLINE_SUBSCRIBERS_MAX = 2;
/** A killed worker's batch comes back when this has passed. */
const WORKER_SECONDS = 12;
/** How long everything may take once nothing goes wrong any more: what nobody noticed waits for the sweep. */
const QUIET_MS_MAX = 60 * 60_000;
/** So much later nothing may have come twice. */
const AFTERMATH_MS = 60_000;
const LOOK_EVERY_MS = 5_000;

export const DEFAULT_SIZE: Size = { durationMs: 10_000, publishers: 3, subscribers: 4, members: 3 };

export interface HistoryOptions {
  readonly seed: number;
  readonly size?: Size;
  readonly rates?: Rates;
  /** @default those of the seed */
  readonly steps?: readonly Step[];
  /** The faults that strike, by name. @default those of the seed */
  readonly only?: ReadonlySet<string> | undefined;
  readonly alterations?: Alterations | undefined;
  /** Called before anything happens; what it mocks is restored at the end. */
  readonly install?: (() => void) | undefined;
}

export interface History {
  readonly seed: number;
  readonly steps: readonly Step[];
  /** The faults that struck, in their order. */
  readonly struck: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
  readonly trace: Trace;
  /** What functions threw. While faults strike, some do. */
  readonly failures: readonly string[];
}

/**
 * One history: clients publish, vanish, return and take over while the cloud goes wrong; then the faults stop, and
 * everything that was promised has to be there. It runs in virtual time, and the same options give the same history.
 */
export async function runHistory(options: HistoryOptions): Promise<History> {
  const { seed } = options;
  const time = new VirtualTime(seed);
  options.install?.();
  try {
    return await play(time, options);
  } finally {
    time.restore();
  }
}

/**
 * To be called before the first history of a process: what is loaded late is loaded then, and does not come in the
 * middle of one.
 */
export async function warmUp(): Promise<void> {
  await runHistory({ seed: 0, size: { ...DEFAULT_SIZE, durationMs: 2_000 } });
}

async function play(time: VirtualTime, options: HistoryOptions): Promise<History> {
  const { seed, size = DEFAULT_SIZE, steps = stepsOf(seed, size) } = options;
  const problems: Problem[] = [];
  const trace = new Trace(() => time.nowMs);
  const books: Books = {
    ledger: new Ledger(audienceOf(size)),
    wills: new WillLedger(),
    trace,
    wrong: (what, about) => problems.push({ what, about }),
  };
  const plan = new FaultPlan({
    seed,
    rates: options.rates ?? DEFAULT_RATES,
    only: options.only,
    onStrike: (strike) => traceStrike(trace, strike),
  });
  const world = await time.during(startWorld(plan, trace, options));
  const cast = castOf(world.emulator, size, books);
  await time.during(subscribeAll(cast));
  const published = new PublishedNumbers(size, books.ledger);
  const guests = new Guests(world.emulator, books, published);
  const stage = { world, cast, guests, books, published };
  plan.isActive = true;
  for (const step of steps) setTimeout(() => perform(step, stage), step.atMs);
  await time.advance(size.durationMs);
  plan.isActive = false;
  await settle(time, stage);
  for (const client of [...cast.all, cast.watcher, ...guests.clients]) client.stop();
  await time.advance(1_000);
  world.stop();
  return {
    seed,
    steps,
    struck: plan.struck,
    counts: { ...books.ledger.counts, wills: books.wills.counts.owed, faults: plan.struck.length },
    problems: [
      ...problems,
      ...books.ledger.problems,
      ...books.wills.problems,
      ...guests.problems,
      ...(world.deadLetters() > 0 ? [{ what: `${world.deadLetters()} dead letters`, about: '' }] : []),
    ],
    trace,
    failures: world.failures,
  };
}

interface Stage {
  readonly world: InProcessWorld;
  readonly cast: Cast;
  readonly guests: Guests;
  readonly books: Books;
  readonly published: PublishedNumbers;
}

async function startWorld(
  plan: FaultPlan,
  trace: Trace,
  { seed, alterations }: HistoryOptions,
): Promise<InProcessWorld> {
  return await startCloudInProcess({
    seed,
    faults: plan.gateway,
    dynamoFaults: plan.store,
    inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
    workerSeconds: WORKER_SECONDS,
    random: seededRandom(seed),
    authenticator: AUTHENTICATOR,
    authorizer: claimsAuthorizer,
    ...(alterations !== undefined && { alterations }),
    onFrame: (environmentId, bytes) => traceFrame(trace, environmentId, bytes),
  });
}

/** Numbers the messages of each topic. */
class PublishedNumbers implements Published {
  readonly stateTopics: readonly string[];
  readonly #ledger: Ledger;
  readonly #next = new Map<string, number>();

  constructor(size: Size, ledger: Ledger) {
    this.stateTopics = Array.from({ length: size.publishers }, (_, index) => `state/${index}/a/b`);
    this.#ledger = ledger;
  }

  nextOf = (topic: string): number => this.#next.get(topic) ?? 0;
  lastAcknowledged = (topic: string): number => this.#ledger.lastAcknowledged(topic);
  acknowledgedOf = (topic: string): readonly number[] => this.#ledger.acknowledgedOf(topic);

  take(topic: string): number {
    const number = this.nextOf(topic);
    this.#next.set(topic, number + 1);
    return number;
  }
}

function perform(step: Step, { world, cast, guests, books, published }: Stage): void {
  switch (step.kind) {
    case 'publish': {
      const isState = step.topic === 'state';
      const qos = isState ? 1 : step.qos;
      const topic = isState ? `state/${step.publisher}/a/b` : `${step.topic}/${step.publisher}/${qos}`;
      const number = published.take(topic);
      books.ledger.published({ topic, qos, number });
      cast.publishers[step.publisher]?.publish(topic, String(number), { qos, retain: isState });
      break;
    }
    case 'end': {
      const client = cast.all[step.client];
      if (client?.mqtt.connected !== true) break;
      // mqtt.js says goodbye only when nothing of its own is under way.
      client.end(step.how === 'goodbye' && client.hasUnsent ? 'cut' : step.how);
      setTimeout(() => client.return(), step.awayMs + 1);
      break;
    }
    case 'probe':
      guests.probe(step.filter);
      break;
    case 'mortal':
      guests.mortal(step);
      break;
    case 'intruder':
      guests.intruder(step.filter);
      break;
    case 'amnesiac':
      guests.amnesiac(step);
      break;
    case 'cold':
      world.emulator.retireIdleEnvironments();
      break;
  }
}

/** Until everything that was promised is there; and a while longer, in which nothing may come again. */
async function settle(time: VirtualTime, { cast, guests, books }: Stage): Promise<void> {
  const endsAtMs = time.nowMs + QUIET_MS_MAX;
  const isOpen = () =>
    books.ledger.missing.length > 0 ||
    books.wills.missing.length > 0 ||
    cast.all.some((client) => client.hasUnsent || !client.mqtt.connected);
  do await time.advance(LOOK_EVERY_MS);
  while (isOpen() && time.nowMs < endsAtMs);
  for (const client of cast.all.filter((each) => each.hasUnsent))
    books.wrong(`stuck: ${client.name} has messages that nobody acknowledges`, client.name);
  guests.probe(STATE_FILTERS[0]);
  await time.advance(AFTERMATH_MS);
}

function traceStrike(trace: Trace, { name, subject }: Strike): void {
  const environmentId =
    typeof subject === 'object' && subject !== null && 'environmentId' in subject
      ? String(subject.environmentId)
      : undefined;
  trace.add(`fault ${name}: ${JSON.stringify(subject)?.slice(0, 200)}`, [], environmentId);
}

/** Which invocation handles which messages. */
function traceFrame(trace: Trace, environmentId: string, bytes: Buffer): void {
  const packets = new PacketDecoder({ protocolVersion: 5, maximumPacketSize: bytes.length + 1 }).push(bytes);
  const messages = packets.flatMap((packet) =>
    'type' in packet && packet.type === 'publish'
      ? [`${packet.topic}=${Buffer.from(packet.payload).toString()}`]
      : [],
  );
  if (messages.length > 0) trace.add(`handler begins: ${messages.join(', ')}`, messages, environmentId);
}
