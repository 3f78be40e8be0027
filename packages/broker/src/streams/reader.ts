import type { Message } from '../message.ts';
import type { Connections, StreamEntry } from '../ports/index.ts';
import { type ConnectionId, readsOnOf, type SessionRef } from '../session.ts';
import type { StreamKind } from './position.ts';

/** Topics that one reader may be behind in: each takes memory. */
export const TOPICS_BEHIND_MAX = 1000;

/**
 * Topics of one conflated reader that may be within their intervals at a time: half of those that it may be behind in.
 * Messages of further topics are sent as they come.
 */
export const READER_INTERVALS_MAX = TOPICS_BEHIND_MAX / 2;

/** Readers of one connection. Beyond it: 0x97. */
export const READERS_PER_CONNECTION_MAX = 100;

/** How far a reader has got in one topic that it is not live in. */
export interface Cursor {
  epoch: string;
  /** Number of the last message that it was sent. */
  after: number;
  /** The newest message that was held back from it: it is live again behind that. */
  heldUpTo: number;
  /** Messages up to this number were there when it subscribed, and say so. */
  readonly pastUpTo: number;
  readonly kind: StreamKind | undefined;
  /** Last values that go before, the next one first. */
  values?: StreamEntry[] | undefined;
}

/** A subscription that reads a stream, on one connection. */
export interface Reader {
  readonly connectionId: ConnectionId;
  /** Whether a new message goes to it now; otherwise it is read from history when its turn comes. */
  takes(session: SessionRef, entry: EntryName, connections: Connections): boolean;
}

/** Names an entry of a topic. */
export interface EntryName extends Pick<StreamEntry, 'epoch' | 'number'> {
  readonly message: Pick<Message, 'topic'>;
}

/**
 * A reader behind a door that keeps nothing in memory: history came with SUBACK, and everything else is live. It goes
 * along where its session moves. On another connection of its session it is sent nothing: that one subscribes for itself.
 */
export class LiveReader implements Reader {
  readonly connectionId: ConnectionId;

  constructor(connectionId: ConnectionId) {
    this.connectionId = connectionId;
  }

  takes(session: SessionRef): boolean {
    return isOnItsConnection(this, session);
  }
}

/** False where the session has come back on another connection. */
export function isOnItsConnection({ connectionId }: Reader, { attachment }: SessionRef): boolean {
  return attachment !== undefined && readsOnOf(attachment) === connectionId;
}

/** How often a conflated reader is sent a message of one topic. */
export interface ReaderPace {
  readonly intervalMs: number;
  after(delayMs: number, callback: () => void): void;
  /** A message has waited for the end of an interval. */
  readOn(): void;
}

/**
 * A reader behind a door that keeps its readers in memory. It has no queue: it reads later from history the messages
 * that it cannot be sent now. In each topic it is either live or behind, and changes from one to the other in one turn.
 */
export class StreamReader implements Reader {
  readonly connectionId: ConnectionId;
  readonly behind = new Map<string, Cursor>();
  /** Until it is known where it begins, everything is held back. */
  isJoining = true;
  /** It is behind in more topics than may be. */
  isLost = false;
  readonly #pace: ReaderPace | undefined;
  /** Topics of which a message has been sent within the interval: the next one waits for its end. */
  readonly #resting = new Set<string>();

  /** @param pace of a conflated reader @default each message is sent */
  constructor(connectionId: ConnectionId, pace?: ReaderPace) {
    this.connectionId = connectionId;
    this.#pace = pace;
  }

  takes(
    { attachment }: SessionRef,
    { epoch, number, message }: EntryName,
    connections: Connections,
  ): boolean {
    if (attachment?.connectionId !== this.connectionId) return false;
    const { topic } = message;
    const cursor = this.behind.get(topic);
    if (cursor !== undefined) this.#holdNewer(cursor, epoch, number);
    else if (!this.isJoining && !this.isResting(topic) && connections.isReady(this.connectionId)) {
      this.rest(topic);
      return true;
    } else this.#hold(topic, epoch, number);
    return false;
  }

  isResting(topic: string): boolean {
    return this.#resting.has(topic);
  }

  /** The reader has been sent the newest message of the topic: its interval begins, where the reader has one. */
  rest(topic: string): void {
    const pace = this.#pace;
    if (pace === undefined || this.#resting.size >= READER_INTERVALS_MAX) return;
    this.#resting.add(topic);
    pace.after(pace.intervalMs, () => {
      this.#resting.delete(topic);
      if (this.behind.has(topic)) pace.readOn();
    });
  }

  /** A newer message takes its place. The past is sent whole. */
  leavesOut({ pastUpTo, heldUpTo }: Cursor, number: number): boolean {
    return this.#pace !== undefined && number > pastUpTo && number < heldUpTo;
  }

  /**
   * Topics that it is behind in and that have begun while it joined: the first message that it has noted may not be the
   * first one, where messages come in any order.
   */
  readWhole(hasBegun: (topic: string) => boolean): void {
    for (const [topic, cursor] of this.behind) if (hasBegun(topic)) cursor.after = 0;
  }

  #holdNewer(cursor: Cursor, epoch: string, number: number): void {
    cursor.heldUpTo = number;
    const isPast = cursor.values !== undefined || cursor.after < cursor.pastUpTo;
    if (this.#pace === undefined || isPast) return;
    // The reader need not read messages that it leaves out.
    cursor.after = number - 1;
    cursor.epoch = epoch;
  }

  #hold(topic: string, epoch: string, number: number): void {
    if (this.behind.size >= TOPICS_BEHIND_MAX) {
      this.isLost = true;
      return;
    }
    this.behind.set(topic, { epoch, after: number - 1, heldUpTo: number, pastUpTo: 0, kind: undefined });
  }
}

/** Of a subscription whose connection has ended: it is sent nothing until its client subscribes again. */
export const ENDED_READER = new StreamReader('');
