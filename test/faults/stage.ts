import type { InProcessEmulator } from '@apus/emulated-aws';
import { type Books, type Cast, ownTopic } from './cast.ts';
import type { ConflatedReaders } from './conflated-readers.ts';
import type { Guests, Published } from './guests.ts';
import type { Ledger } from './ledger.ts';
import type { OutsideWorld } from './outside-world.ts';
import type { Rooms } from './rooms.ts';
import type { Size } from './size.ts';
import { STATE_FILTERS, type Step } from './steps.ts';
import type { StreamReaders } from './stream-readers.ts';
import type { HistoryTime } from './time.ts';

/** The deployment that a history plays on. */
export interface StageWorld {
  readonly emulator: InProcessEmulator;
  /** Errors that functions threw or logged. */
  readonly failures: readonly string[];
  /** Messages in the dead-letter queues. */
  deadLetters(): number | Promise<number>;
  /** Ends the epoch of a topic of a stream. Undefined: not on this stage. */
  readonly newEpoch?: ((topic: string) => Promise<void>) | undefined;
  /** Bans a name, as an operator whose function dies when the list is written. Undefined: not on this stage. */
  readonly ban?: ((username: string) => Promise<void>) | undefined;
  stop(): void | Promise<void>;
}

export interface Stage {
  readonly world: StageWorld;
  readonly cast: Cast;
  readonly guests: Guests;
  readonly readers: StreamReaders;
  readonly conflated: ConflatedReaders;
  readonly rooms: Rooms;
  /** Undefined: there is no other system. */
  readonly outside: OutsideWorld | undefined;
  readonly books: Books;
  readonly published: PublishedNumbers;
}

/** How long a history goes on after the faults. */
export interface Patience {
  /** By then every promise has to be kept. */
  readonly quietMsMax: number;
  /** For this long afterwards no message may come twice. */
  readonly aftermathMs: number;
  readonly lookEveryMs: number;
  /** So long after the last fault the sweep has finished what a handler that died has begun. */
  readonly repairedWithinMs: number;
}

/** Numbers the messages of each topic. */
export class PublishedNumbers implements Published {
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

  wasSentAgain = (topic: string, number: number, after: number): boolean =>
    this.#ledger.wasSentAgain(topic, number, after);

  take(topic: string): number {
    const number = this.nextOf(topic);
    this.#next.set(topic, number + 1);
    return number;
  }
}

export function perform(
  step: Step,
  { world, cast, guests, readers, conflated, rooms, outside, books, published }: Stage,
): void {
  switch (step.kind) {
    case 'produce':
      outside?.produce(step.key);
      break;
    case 'end-outside-reader':
      outside?.endReader(step.how);
      break;
    case 'append':
      append(step, { cast, books, published });
      break;
    case 'end-conflated':
      conflated.end(step.reader, step.how);
      break;
    case 'end-reader':
      readers.end(step.reader, step.how);
      break;
    case 'newcomer':
      readers.newcomer(step.topic, step.rewind);
      break;
    case 'say':
      rooms.say(step.dweller, step.isThere);
      break;
    case 'end-dweller':
      rooms.endDweller(step.dweller, step.how, step.awayMs);
      break;
    case 'end-watcher':
      rooms.endWatcher(step.watcher, step.how);
      break;
    case 'new-epoch':
      if (world.newEpoch !== undefined)
        void world.newEpoch(step.topic).then(books.streams.endsEpoch(step.topic));
      break;
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
      // This client neither sends DISCONNECT nor hangs unnoticed.
      if (step.how !== 'disconnect' && step.how !== 'unplug') cast.listener.end(step.how);
      const client = cast.all[step.client];
      if (client?.mqtt.connected !== true) break;
      // mqtt.js sends DISCONNECT only when none of its own packets is under way.
      client.end(step.how === 'disconnect' && client.hasUnsent ? 'cut' : step.how);
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
    case 'thief': {
      const victim = cast.all[step.client];
      if (victim !== undefined) guests.thief(step, victim.name);
      break;
    }
    case 'brief':
      guests.brief(step.filter);
      break;
    case 'outlaw':
      if (world.ban !== undefined) guests.outlaw(step, world.ban);
      break;
    case 'amnesiac':
      guests.amnesiac(step);
      break;
    case 'leaver':
      guests.leaver(step);
      break;
    case 'cold':
      world.emulator.retireIdleEnvironments();
      break;
  }
}

function append(
  { topic, qos, publisher }: Pick<Extract<Step, { kind: 'append' }>, 'topic' | 'qos' | 'publisher'>,
  { cast, books, published }: Pick<Stage, 'cast' | 'books' | 'published'>,
): void {
  const own = ownTopic(topic, String(publisher), String(qos));
  const number = published.take(own);
  const payload = `${publisher}.${qos}.${number}`;
  books.ledger.published({ topic: own, qos, number });
  books.streams.published(topic, payload, Date.now());
  cast.publishers[publisher]?.publish(topic, payload, { qos });
}

/** Waits until every promise is kept; and a while longer, in which no message may come again. */
export async function comeToRest(
  time: HistoryTime,
  stage: Stage,
  { quietMsMax, aftermathMs, lookEveryMs, repairedWithinMs }: Patience,
): Promise<void> {
  const { cast, guests, readers, conflated, rooms, outside, books } = stage;
  const endsAtMs = time.nowMs + quietMsMax;
  const repairedAtMs = time.nowMs + repairedWithinMs;
  const isOpen = () =>
    books.ledger.missing.length > 0 ||
    books.wills.missing.length > 0 ||
    readers.isWaiting ||
    conflated.isWaiting ||
    rooms.isWaiting ||
    outside?.isWaiting === true ||
    cast.all.some((client) => client.hasUnsent || !client.mqtt.connected);
  do await time.advance(lookEveryMs);
  while (isOpen() && time.nowMs < endsAtMs);
  for (const client of cast.all.filter((each) => each.hasUnsent))
    books.wrong(`stuck: ${client.name} has unacknowledged messages`, client.name);
  // A leave whose handler has died may be told once more until then (docs/presence.md).
  if (rooms.isWatched) await time.advance(Math.max(0, repairedAtMs - time.nowMs));
  guests.probe(STATE_FILTERS[0]);
  guests.askProbes();
  readers.askNewcomers();
  conflated.farewell((topic) => append({ topic, qos: 1, publisher: 0 }, stage));
  rooms.farewell();
  await time.advance(aftermathMs);
  rooms.farewellIsOver();
}
