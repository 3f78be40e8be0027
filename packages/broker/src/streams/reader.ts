import {
  type ConnectionId,
  type EntryName,
  isOnItsConnection,
  type Reader,
  type SessionRef,
} from '../model/session.ts';
import type { Connections, StreamTopicTail } from '../ports/index.ts';
import type { StreamKind } from './position.ts';

/** Topics in which one reader may be behind. Each takes memory. */
export const TOPICS_BEHIND_MAX = 1000;

/**
 * Topics of one conflated reader that may be within their intervals at a time: half of those in which it may be
 * behind. Messages of further topics are sent as they come.
 */
export const READER_INTERVALS_MAX = TOPICS_BEHIND_MAX / 2;

/** Readers of one connection. Beyond it: 0x97. */
export const READERS_PER_CONNECTION_MAX = 100;

/** How far a reader is in the last values of a topic. */
export interface Values {
  /** The end of the topic when it subscribed. */
  readonly tail: StreamTopicTail;
  /** Number of the last one that it was sent. */
  after: number;
}

/** How far a reader is in a topic in which it is behind. */
export interface Cursor {
  epoch: string;
  /** Number of the last message that it was sent. */
  after: number;
  /** Number of the newest message that was held back: after it the reader is live again. */
  heldUpTo: number;
  /** Messages up to this number existed when it subscribed. They are sent as past messages. */
  readonly pastUpTo: number;
  readonly kind: StreamKind | undefined;
  /** Until the last values have been sent, which come first. The store keeps them, not the reader [SEC-GROWTH-9]. */
  values?: Values | undefined;
}

/**
 * A reader behind a door that keeps nothing in memory. SUBACK has brought its history, and everything else is live. It
 * moves with its session. On another connection of its session it is sent nothing: that connection subscribes for
 * itself.
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

/** The interval of a conflated reader. */
export interface ReaderPace {
  readonly ms: number;
  /** Begins the interval of a topic. False: there is no memory for it, and messages are sent as they come. */
  rest(topic: string, ended: () => void): boolean;
  /** Called at the end of an interval if a message has waited for it. */
  readOn(): void;
}

/**
 * A reader behind a door that keeps its readers in memory. It has no queue: messages that it cannot be sent now it
 * reads from history later. In each topic it is either live or behind, and changes from one to the other in one turn.
 */
export class StreamReader implements Reader {
  readonly connectionId: ConnectionId;
  readonly behind = new Map<string, Cursor>();
  /** True until its beginning is known: every message is held back. */
  isJoining = true;
  /** It is behind in more topics than it may be. */
  isLost = false;
  readonly #pace: ReaderPace | undefined;
  /** Topics within their intervals: the next message waits for the end. */
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
    } else this.#hold(topic, epoch, number - 1, number);
    return false;
  }

  /** The interval of each topic. Undefined: each message is sent. */
  get conflateMs(): number | undefined {
    return this.#pace?.ms;
  }

  isResting(topic: string): boolean {
    return this.#resting.has(topic);
  }

  /** The reader was sent the newest message of the topic: its interval begins, if it has one. */
  rest(topic: string): void {
    const pace = this.#pace;
    if (pace === undefined || this.#resting.size >= READER_INTERVALS_MAX) return;
    const isResting = pace.rest(topic, () => {
      this.#resting.delete(topic);
      if (this.behind.has(topic)) pace.readOn();
    });
    if (isResting) this.#resting.add(topic);
  }

  /** Whether a newer message replaces this one. Past messages are all sent. */
  leavesOut({ pastUpTo, heldUpTo }: Cursor, number: number): boolean {
    return this.#pace !== undefined && number > pastUpTo && number < heldUpTo;
  }

  /**
   * The number up to which last values are sent. A conflated reader leaves messages out: it is sent the values that
   * have replaced those of its beginning.
   */
  valuesUpTo({ pastUpTo, heldUpTo }: Cursor): number {
    return this.#pace === undefined ? pastUpTo : heldUpTo;
  }

  /** All last values have been sent. */
  endValues(cursor: Cursor): void {
    cursor.values = undefined;
    // The newest message may be no value, for it may have deleted its key.
    if (this.#pace !== undefined) cursor.after = Math.max(cursor.after, cursor.heldUpTo - 1);
  }

  /** Has the reader read what it was not sent: the messages of a topic behind one number, up to another. */
  holdUpTo(topic: string, epoch: string, after: number, upTo: number): void {
    const cursor = this.behind.get(topic);
    if (cursor === undefined) this.#hold(topic, epoch, after, upTo);
    else cursor.heldUpTo = Math.max(cursor.heldUpTo, upTo);
  }

  /**
   * For topics that have begun while the reader joined: if messages arrive in any order, the first one that it has
   * noted may not be the first of the topic.
   */
  readWhole(hasBegun: (topic: string) => boolean): void {
    for (const [topic, cursor] of this.behind) if (hasBegun(topic)) cursor.after = 0;
  }

  #holdNewer(cursor: Cursor, epoch: string, number: number): void {
    const isPast = cursor.values !== undefined || cursor.after < cursor.pastUpTo;
    if (this.#pace === undefined || isPast) {
      // The numbers of a topic that begins anew are lower: the reader finds that it has lost the former ones.
      cursor.heldUpTo = Math.max(cursor.heldUpTo, number);
      return;
    }
    // The reader leaves these messages out.
    cursor.heldUpTo = number;
    cursor.after = number - 1;
    cursor.epoch = epoch;
  }

  #hold(topic: string, epoch: string, after: number, heldUpTo: number): void {
    if (this.behind.size >= TOPICS_BEHIND_MAX) {
      this.isLost = true;
      return;
    }
    this.behind.set(topic, { epoch, after, heldUpTo, pastUpTo: 0, kind: undefined });
  }
}

/** The reader of a subscription whose connection has ended: it is sent nothing until its client subscribes again. */
export const ENDED_READER = new StreamReader('');
