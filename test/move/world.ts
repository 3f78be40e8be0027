/** Connections of a session: 0 is the first one. */
export const CONNECTIONS = 3;
export const NONE = -1;

/** Filters 0 and 1 are narrow: a publisher posts to them. Filter 2 is wide: a worker does. */
export const WIDE = 2;
export const FILTERS = 3;

/** The gateway's close frame, among what a socket brings. */
export const CLOSE = -1;

export interface Configuration {
  /** For each publisher the filters that its messages match, in order: `'01'`. */
  readonly publishers: readonly [string, string];
  /** The client asks to be moved. */
  readonly moves: boolean;
  /** The old connection is cut when the entries have been written (`cutAfterMs`): each filter has an order of its own. */
  readonly cutsLast: boolean;
  /** How often the handler of a move or of a resume may die. */
  readonly crashes: number;
  /** How many connections end by themselves. */
  readonly losses: number;
  /** How they may end: with a close frame, without one, or unnoticed by the gateway. */
  readonly lossKinds: readonly LossKind[];
  /** `$disconnect` comes for connections that have ended. */
  readonly hasDisconnects: boolean;
  /** Messages that a tombstone has room for. */
  readonly keptMax: number;
  /** The client stops waiting while a handler still runs. */
  readonly isImpatient: boolean;
  /** Another client uses the same ticket on connection 2. */
  readonly hasRival: boolean;
  /** Another client connects with the same client identifier. */
  readonly hasTakeOver: boolean;
  readonly hasWill: boolean;
  /** The client does not return after a loss. */
  readonly staysAway: boolean;
}

export type LossKind = 'close-frame' | 'cut' | 'half-open';

/** A removed protection. */
export type Mutation =
  | 'no-follow'
  | 'no-hold'
  | 'client-closes-old'
  | 'pushes-before-reply'
  | 'open-buffer'
  | 'blind-entries'
  | 'entries-before-end'
  | 'adopt-after-end'
  | 'no-look-at-end'
  | 'no-gap'
  | 'worker-drops'
  | 'will-not-asked'
  | 'move-twice'
  | 'stay-where-refused'
  | 'last-link-only';

/** A connection's item. */
export interface Link {
  isConnected: boolean;
  hasEnded: boolean;
  movedTo: number;
  kept: number[];
  hasMissed: boolean;
}

export type Socket = 'none' | 'open' | 'half-open' | 'closed';

export interface Session {
  connection: number;
  last: number;
  isTakenOver: boolean;
  will: 'none' | 'stands' | 'due' | 'begun' | 'done';
}

/** A handler that has messages for the session. */
export interface Poster {
  /** How many of its messages are finished. */
  done: number;
  step: 'idle' | 'post' | 'redirect' | 'cut' | 'end' | 'keep' | 'miss' | 'tell';
  /** The connection that it posts to. */
  at: number;
}

export interface Worker extends Poster {
  /** Messages, in their order. */
  jobs: number[];
  /** Connections, as bits, to which this batch posts nothing more. */
  ended: number;
}

export interface Handler {
  does: 'move' | 'resume';
  to: number;
  /** The connection that the ticket names. */
  shown: number;
  from: number;
  step: number;
  /** Connections, as bits, from that one to `from`. */
  chain: number;
  /** Messages in the reply. */
  kept: number[];
  hasGap: boolean;
  hasEnded: boolean;
}

export interface Reply {
  kind: 'moved' | 'resumed' | 'refused';
  packets: number[];
  hasGap: boolean;
}

export interface Client {
  phase: 'connected' | 'moving' | 'resuming' | 'lost';
  current: number;
  target: number;
  /** Connections that it has opened. */
  opened: number;
  sent: number;
  hasTicket: boolean;
  hasOldClosed: boolean;
  /** All that was sent before the loss has come. */
  wasInOrder: boolean;
  received: number;
  /** Messages, as bits, that had been published when the client told its program of a gap. */
  excused: number;
  resumes: number;
}

export interface State {
  links: Link[];
  sockets: Socket[];
  /** Messages on each socket on their way to the client. */
  queues: number[][];
  /** `$disconnect` of each connection: not due, due, or it has written the tombstone. */
  disconnects: ('none' | 'due' | 'tell')[];
  replies: (Reply | undefined)[];
  session: Session;
  /** The connection that each filter's entry carries. */
  entries: number[];
  publishers: Poster[];
  worker: Worker;
  handlers: Handler[];
  client: Client;
  /** Messages, as bits, whose publisher has begun. */
  begun: number;
  takeOver: { step: number; ended: number[] };
  isRivalSent: boolean;
  willTimer: 'idle' | 'publish' | 'done';
  isWillPublished: boolean;
  crashes: number;
  losses: number;
  violation: string | undefined;
}

const MESSAGES_OF_ONE = 4;
export const messageOf = (publisher: number, place: number): number => publisher * MESSAGES_OF_ONE + place;
export const publisherOf = (message: number): number => Math.floor(message / MESSAGES_OF_ONE);
export const placeOf = (message: number): number => message % MESSAGES_OF_ONE;

/** Filters that the session has, in their order. */
export function filtersOf({ publishers }: Configuration): number[] {
  return [...new Set(['0', ...publishers.join('')])].map(Number).sort();
}

export function newState(config: Configuration): State {
  const each = <T>(make: (connection: number) => T): T[] =>
    Array.from({ length: CONNECTIONS }, (_, n) => make(n));
  const idle = (): Poster => ({ done: 0, step: 'idle', at: 0 });
  return {
    links: each((n) => ({
      isConnected: n === 0,
      hasEnded: false,
      movedTo: NONE,
      kept: [],
      hasMissed: false,
    })),
    sockets: each((n) => (n === 0 ? 'open' : 'none')),
    queues: each(() => []),
    disconnects: each(() => 'none'),
    replies: each(() => undefined),
    session: { connection: 0, last: 0, isTakenOver: false, will: config.hasWill ? 'stands' : 'none' },
    entries: filtersOf(config).reduce<number[]>(
      (entries, filter) => {
        entries[filter] = 0;
        return entries;
      },
      Array.from({ length: FILTERS }, () => NONE),
    ),
    publishers: [idle(), idle()],
    worker: { ...idle(), jobs: [], ended: 0 },
    handlers: [],
    client: {
      phase: 'connected',
      current: 0,
      target: NONE,
      opened: 1,
      sent: 0,
      hasTicket: true,
      hasOldClosed: false,
      wasInOrder: false,
      received: 0,
      excused: 0,
      resumes: 0,
    },
    begun: 0,
    takeOver: { step: 0, ended: [] },
    isRivalSent: false,
    willTimer: 'idle',
    isWillPublished: false,
    crashes: config.crashes,
    losses: config.losses,
    violation: undefined,
  };
}

/** Returns a copy for one step. Written out, since it is made for each step of each state. */
export function copyOf(state: State): State {
  return {
    ...state,
    links: state.links.map((link) => ({ ...link, kept: link.kept.slice() })),
    sockets: state.sockets.slice(),
    queues: state.queues.map((queue) => queue.slice()),
    disconnects: state.disconnects.slice(),
    replies: state.replies.slice(),
    session: { ...state.session },
    entries: state.entries.slice(),
    publishers: state.publishers.map((publisher) => ({ ...publisher })),
    worker: { ...state.worker, jobs: state.worker.jobs.slice() },
    handlers: state.handlers.map((handler) => ({ ...handler, kept: handler.kept.slice() })),
    client: { ...state.client },
    takeOver: { step: state.takeOver.step, ended: state.takeOver.ended.slice() },
  };
}

/** Two states are equal if these texts are. */
export function textOf(state: State): string {
  const { links, queues, replies, session, publishers, worker, handlers, client, takeOver } = state;
  const { sockets, disconnects, entries, begun, crashes, losses, violation } = state;
  const flag = (isSo: boolean) => (isSo ? 1 : 0);
  const parts: unknown[] = [sockets, disconnects, entries, begun, crashes, losses, violation ?? ''];
  parts.push(state.isRivalSent, state.willTimer, state.isWillPublished, takeOver.step, takeOver.ended);
  for (const { isConnected, hasEnded, movedTo, kept, hasMissed } of links)
    parts.push(flag(isConnected), flag(hasEnded), movedTo, kept.join('.'), flag(hasMissed));
  for (const queue of queues) parts.push(queue.join('.'));
  for (const reply of replies)
    parts.push(reply === undefined ? 0 : reply.kind, reply?.packets.join('.'), reply?.hasGap);
  parts.push(session.connection, session.last, flag(session.isTakenOver), session.will);
  for (const { done, step, at } of publishers) parts.push(done, step, at);
  parts.push(worker.done, worker.step, worker.at, worker.jobs.join('.'), worker.ended);
  parts.push(client.phase, client.current, client.target, client.opened, client.sent, flag(client.hasTicket));
  parts.push(
    flag(client.hasOldClosed),
    flag(client.wasInOrder),
    client.received,
    client.excused,
    client.resumes,
  );
  for (const { does, to, shown, from, chain, step, kept, hasGap, hasEnded } of handlers)
    parts.push(does, to, shown, from, chain, step, kept.join('.'), flag(hasGap), flag(hasEnded));
  return parts.join();
}
