import { oneOf, seededRandom } from './draws.ts';
import { hasConflated, hasOutside, hasRoom, isAged, type Size } from './size.ts';

/** How a connection ends. */
export type End =
  /** The network breaks; both sides notice. */
  | 'cut'
  /** Only the client notices: it returns while the gateway still holds the old connection. */
  | 'vanish'
  /** No process notices the end, as when a cable is pulled. */
  | 'unplug'
  /** DISCONNECT. */
  | 'disconnect'
  /**
   * Something else closes the client's WebSocket with the close code for DISCONNECT, although the client has not
   * disconnected.
   */
  | 'closed-with-4001'
  /** The gateway closes, as for maintenance. */
  | 'closed-by-gateway';

export type Topic = 'news' | 'state' | 'jobs';

/** Topics of the streams `feed`, which keeps all messages, and `short`. */
export const STREAM_TOPICS = ['feed/a', 'feed/b', 'short/a'] as const;
export type StreamTopic = (typeof STREAM_TOPICS)[number];

/** A client's act at a moment of the history. */
export type Step = { readonly atMs: number } & (
  | { readonly kind: 'publish'; readonly publisher: number; readonly topic: Topic; readonly qos: 0 | 1 | 2 }
  /** Of one of the clients whose sessions persist. */
  | { readonly kind: 'end'; readonly client: number; readonly how: End; readonly awayMs: number }
  /** A client that subscribes to the retained state with a filter shape of its own, and leaves later. */
  | { readonly kind: 'probe'; readonly filter: string; readonly stayMs: number }
  /** A client with a will. */
  | {
      readonly kind: 'mortal';
      readonly qos: 1 | 2;
      readonly delaySeconds: number;
      readonly stayMs: number;
      /** 'age': it stays until the gateway cuts it at two hours. */
      readonly how: End | 'age';
      /** The time from its end to its return; undefined: it does not return. */
      readonly returnsAfterMs: number | undefined;
    }
  /** A client without permission for its subscription and its publishes. */
  | { readonly kind: 'intruder'; readonly filter: string }
  /** A client with the client identifier of another one, which has a persistent session. */
  | { readonly kind: 'thief'; readonly client: number; readonly isClean: boolean }
  /** A client whose identity expires while it is connected. */
  | { readonly kind: 'brief'; readonly filter: string }
  /** A client that is banned while it is connected, and publishes long after the ban. */
  | { readonly kind: 'outlaw'; readonly filter: string; readonly bannedAfterMs: number }
  /** A client that leaves a session behind and returns with Clean Start. */
  | { readonly kind: 'amnesiac'; readonly stayMs: number; readonly awayMs: number }
  /** A client whose session ends with its connection, and that disconnects with the close code. */
  | { readonly kind: 'leaver'; readonly stayMs: number; readonly awayMs: number }
  /** All idle execution environments end. */
  | { readonly kind: 'cold' }
  /** To a topic of a stream, which all publishers share. */
  | {
      readonly kind: 'append';
      readonly publisher: number;
      readonly topic: StreamTopic;
      readonly qos: 1 | 2;
    }
  /** Of one of the readers of streams that stay for the whole history. */
  | { readonly kind: 'end-reader'; readonly reader: number; readonly how: Exclude<End, 'disconnect'> }
  /** A client that reads the history of a stream, all of it or this many messages, and stays. */
  | { readonly kind: 'newcomer'; readonly topic: StreamTopic; readonly rewind: number | undefined }
  /** The owner ends the epoch of a topic. */
  | { readonly kind: 'new-epoch'; readonly topic: StreamTopic }
  /** Of one of the members of the room: new data, or an empty payload. */
  | { readonly kind: 'say'; readonly dweller: number; readonly isThere: boolean }
  | { readonly kind: 'end-dweller'; readonly dweller: number; readonly how: End; readonly awayMs: number }
  /** A record in another system, with one of its keys. */
  | { readonly kind: 'produce'; readonly key: number }
  | { readonly kind: 'end-outside-reader'; readonly how: Exclude<End, 'disconnect'> }
  /** Of one of the subscribers with `conflate-ms`. */
  | { readonly kind: 'end-conflated'; readonly reader: number; readonly how: Exclude<End, 'disconnect'> }
  | { readonly kind: 'end-watcher'; readonly watcher: number; readonly how: Exclude<End, 'disconnect'> }
);

/** At this age the gateway cuts a connection. */
const AGE_MS = 2 * 60 * 60_000;
/**
 * How long clients are active before. The first cuts come some seconds earlier, as all clients connect before the first
 * step.
 */
const BEFORE_AGE_MS = 6_000;
const AFTER_AGE_MS = 2_000;

/** All match `state/{publisher}/a/b`, each with a different shape. */
export const STATE_FILTERS = [
  'state/#',
  '+/#',
  'state/+/#',
  '+/+/#',
  'state/+/a/#',
  '+/+/a/#',
  'state/+/+/#',
  '+/+/+/#',
  'state/+/a/b',
  '+/+/a/b',
  'state/+/+/b',
  '+/+/+/b',
  'state/+/a/+',
  '+/+/a/+',
  'state/+/+/+',
  '+/+/+/+',
] as const;

const FORBIDDEN_FILTERS = ['#', 'news/#', 'state/+/a/b', '$share/thieves/jobs/#', '+/0/+'] as const;
const ENDS: readonly End[] = ['cut', 'cut', 'vanish', 'vanish', 'unplug', 'disconnect', 'closed-by-gateway'];
const READER_ENDS = ['cut', 'cut', 'vanish', 'unplug', 'closed-by-gateway'] as const;
/** Clients that stay for the whole history. */
const STREAM_READERS = 4;
const TOPICS: readonly Topic[] = ['news', 'news', 'news', 'state', 'jobs'];

const PUBLISH_EVERY_MS = 120;
const END_EVERY_MS = 900;
const OTHER_EVERY_MS = 1_500;
const THIEF_EVERY_MS = 2_500;
const BRIEF_EVERY_MS = 5_000;
const OUTLAW_EVERY_MS = 5_000;
const LEAVER_EVERY_MS = 2_000;
const APPEND_EVERY_MS = 150;
const END_READER_EVERY_MS = 1_000;
const NEWCOMER_EVERY_MS = 2_000;
const NEW_EPOCH_EVERY_MS = 6_000;
const SAY_EVERY_MS = 500;
const END_DWELLER_EVERY_MS = 1_200;
const END_WATCHER_EVERY_MS = 2_500;
const PRODUCE_EVERY_MS = 150;
const END_OUTSIDE_READER_EVERY_MS = 2_000;
const APPEND_CONFLATED_EVERY_MS = 200;
const END_CONFLATED_EVERY_MS = 1_500;
/** From rooms.ts; one more stays. */
const DWELLERS_THAT_ACT = 4;
const ROOM_WATCHERS = 2;
/** Of conflated-readers.ts. */
const CONFLATED_READERS = 4;

/** How long clients are active and faults strike. */
export function activeMs(seed: number, size: Size): number {
  return isAged(seed, size)
    ? Math.max(AGE_MS + AFTER_AGE_MS, AGE_MS - BEFORE_AGE_MS + size.durationMs / 2)
    : size.durationMs;
}

/** The steps of the history of a seed. */
export function stepsOf(seed: number, size: Size): Step[] {
  const steps = [
    ...drawnSteps(seed, size),
    ...streamSteps(seed, size),
    ...roomSteps(seed, size),
    ...leaverSteps(seed, size),
    ...outsideSteps(seed, size),
    ...conflatedSteps(seed, size),
  ].sort((one, other) => one.atMs - other.atMs);
  if (!isAged(seed, size)) return steps;
  const halfMs = size.durationMs / 2;
  const leapt = (step: Step): Step =>
    step.atMs < halfMs ? step : { ...step, atMs: step.atMs - halfMs + AGE_MS - BEFORE_AGE_MS };
  return [...AGED_MORTALS, ...steps.map(leapt)];
}

/** Wills of connections that the gateway cuts: one is due, one is withdrawn by a client that returns in time. */
const AGED_MORTALS: readonly Step[] = [undefined, 1_000, 90_000].map((returnsAfterMs, index) => ({
  kind: 'mortal',
  atMs: 10 * index,
  qos: index === 0 ? 2 : 1,
  delaySeconds: index === 0 ? 0 : 20,
  stayMs: AGE_MS,
  how: 'age',
  returnsAfterMs,
}));

type Every = (meanMs: number, make: (atMs: number) => Step) => void;

/** Again and again, at random times. */
function drawing(random: () => number, { durationMs }: Size, steps: Step[]): Every {
  return (meanMs, make) => {
    for (let atMs = random() * meanMs; atMs < durationMs; atMs += random() * 2 * meanMs)
      steps.push(make(Math.round(atMs)));
  };
}

/** Drawn separately: the other steps of a seed's history are the same without streams. */
function streamSteps(seed: number, size: Size): Step[] {
  const random = seededRandom(seed ^ 0x57_ea_a5);
  const steps: Step[] = [];
  const every = drawing(random, size, steps);
  every(APPEND_EVERY_MS, (atMs) => ({
    kind: 'append',
    atMs,
    publisher: Math.floor(random() * size.publishers),
    topic: oneOf(random, STREAM_TOPICS),
    qos: random() < 0.7 ? 1 : 2,
  }));
  every(END_READER_EVERY_MS, (atMs) => ({
    kind: 'end-reader',
    atMs,
    reader: Math.floor(random() * STREAM_READERS),
    how: oneOf(random, READER_ENDS),
  }));
  every(NEWCOMER_EVERY_MS, (atMs) => ({
    kind: 'newcomer',
    atMs,
    topic: oneOf(random, STREAM_TOPICS),
    rewind: random() < 0.5 ? undefined : 1 + Math.floor(random() * 10),
  }));
  every(NEW_EPOCH_EVERY_MS, (atMs) => ({ kind: 'new-epoch', atMs, topic: oneOf(random, STREAM_TOPICS) }));
  return steps;
}

function roomSteps(seed: number, size: Size): Step[] {
  if (!hasRoom(seed, size)) return [];
  const random = seededRandom(seed ^ 0x40_03_75);
  const steps: Step[] = [];
  const every = drawing(random, size, steps);
  const dweller = () => Math.floor(random() * DWELLERS_THAT_ACT);
  every(SAY_EVERY_MS, (atMs) => ({ kind: 'say', atMs, dweller: dweller(), isThere: random() < 0.7 }));
  every(END_DWELLER_EVERY_MS, (atMs) => ({
    kind: 'end-dweller',
    atMs,
    dweller: dweller(),
    how: oneOf(random, ENDS),
    // Within the grace period, or after it.
    awayMs: Math.round(random() ** 2 * 15_000),
  }));
  every(END_WATCHER_EVERY_MS, (atMs) => ({
    kind: 'end-watcher',
    atMs,
    watcher: Math.floor(random() * ROOM_WATCHERS),
    how: oneOf(random, READER_ENDS),
  }));
  return steps;
}

/** Drawn separately as well. */
function leaverSteps(seed: number, size: Size): Step[] {
  const random = seededRandom(seed ^ 0x1e_a7_e5);
  const steps: Step[] = [];
  drawing(
    random,
    size,
    steps,
  )(LEAVER_EVERY_MS, (atMs) => ({
    kind: 'leaver',
    atMs,
    stayMs: 300 + Math.round(random() * 2_000),
    awayMs: Math.round(random() ** 2 * 3_000),
  }));
  return steps;
}

function outsideSteps(seed: number, size: Size): Step[] {
  if (!hasOutside(seed, size)) return [];
  const random = seededRandom(seed ^ 0x07_51_de);
  const steps: Step[] = [];
  const every = drawing(random, size, steps);
  every(PRODUCE_EVERY_MS, (atMs) => ({ kind: 'produce', atMs, key: Math.floor(random() * 3) }));
  every(END_OUTSIDE_READER_EVERY_MS, (atMs) => ({
    kind: 'end-outside-reader',
    atMs,
    how: oneOf(random, READER_ENDS),
  }));
  return steps;
}

function conflatedSteps(seed: number, size: Size): Step[] {
  if (!hasConflated(seed, size)) return [];
  const random = seededRandom(seed ^ 0xc0_7f_1a);
  const steps: Step[] = [];
  const every = drawing(random, size, steps);
  every(APPEND_CONFLATED_EVERY_MS, (atMs) => ({
    kind: 'append',
    atMs,
    publisher: Math.floor(random() * size.publishers),
    topic: 'short/a',
    qos: 1,
  }));
  every(END_CONFLATED_EVERY_MS, (atMs) => ({
    kind: 'end-conflated',
    atMs,
    reader: Math.floor(random() * CONFLATED_READERS),
    how: oneOf(random, READER_ENDS),
  }));
  return steps;
}

function drawnSteps(seed: number, size: Size): Step[] {
  const random = seededRandom(seed);
  const steps: Step[] = [];
  const every = drawing(random, size, steps);
  every(PUBLISH_EVERY_MS, (atMs) => ({
    kind: 'publish',
    atMs,
    publisher: Math.floor(random() * size.publishers),
    topic: oneOf(random, TOPICS),
    qos: random() < 0.5 ? 1 : 2,
  }));
  every(END_EVERY_MS, (atMs) => ({
    kind: 'end',
    atMs,
    client: Math.floor(random() * (size.publishers + size.subscribers + size.members)),
    how: oneOf(random, ENDS),
    awayMs: Math.round(random() ** 2 * 8_000),
  }));
  every(OTHER_EVERY_MS, (atMs) => otherStep(atMs, random));
  const clients = size.publishers + size.subscribers + size.members;
  every(THIEF_EVERY_MS, (atMs) => ({
    kind: 'thief',
    atMs,
    client: Math.floor(random() * clients),
    isClean: random() < 0.3,
  }));
  every(BRIEF_EVERY_MS, (atMs) => ({
    kind: 'brief',
    atMs,
    filter: oneOf(random, ['news/#', 'state/+/a/b']),
  }));
  every(OUTLAW_EVERY_MS, (atMs) => ({
    kind: 'outlaw',
    atMs,
    filter: oneOf(random, ['news/#', 'state/+/a/b']),
    bannedAfterMs: Math.round(random() * 2_000),
  }));
  return steps;
}

function otherStep(atMs: number, random: () => number): Step {
  const kind = oneOf(random, ['probe', 'probe', 'mortal', 'mortal', 'amnesiac', 'intruder', 'cold'] as const);
  switch (kind) {
    case 'probe':
      return {
        kind,
        atMs,
        filter: oneOf(random, STATE_FILTERS),
        stayMs: 5_000 + Math.round(random() * 10_000),
      };
    case 'mortal':
      return {
        kind,
        atMs,
        qos: random() < 0.5 ? 1 : 2,
        delaySeconds: oneOf(random, [0, 0, 20]),
        stayMs: 500 + Math.round(random() * 4_000),
        how: oneOf(random, ENDS),
        returnsAfterMs: random() < 0.3 ? Math.round(random() * 10_000) : undefined,
      };
    case 'intruder':
      return { kind, atMs, filter: oneOf(random, FORBIDDEN_FILTERS) };
    case 'amnesiac':
      return {
        kind,
        atMs,
        stayMs: 300 + Math.round(random() * 3_000),
        awayMs: Math.round(random() ** 2 * 5_000),
      };
    case 'cold':
      return { kind, atMs };
  }
}
