import type { Message } from './message.ts';
import { messageBytes } from './page.ts';
import type { Conflate, Delivery } from './session.ts';

/**
 * Topics that one subscription may have within their intervals; the broker holds the newest message of each. Messages
 * of further topics are sent as they come.
 */
export const CONFLATED_TOPICS_MAX = 10_000;

/** Calls back within this process. */
export interface Delays {
  /** Once, at or after this many milliseconds. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

interface Held {
  readonly message: Message;
  readonly delivery: Delivery;
}

/** An interval of one topic, and the newest message that has come within it. */
interface Interval {
  held: Held | undefined;
  /** Cancels the timer of its end, which would keep the topic for up to an hour. */
  cancel: () => void;
}

/** The topics of a subscription that are within their intervals. */
interface Intervals {
  readonly sessionKey: string;
  readonly topics: Map<string, Interval>;
}

/** The memory of the process, in which held messages count. */
export interface ConflationMemory {
  readonly isFull: boolean;
  readonly bytesMax: number;
  change(bytes: number): void;
}

const NO_LIMIT: ConflationMemory = { isFull: false, bytesMax: Number.POSITIVE_INFINITY, change: () => {} };

/** The shares of the memory that all held messages may take, and those of one session. */
const HELD_SHARE = 1 / 4;
const SESSION_SHARE = 1 / 64;

/** Memory beside the texts of an interval, and of a held message. Rounded up. */
const INTERVAL_BYTES = 512;
const HELD_BYTES = 768;

type Send = (message: Message, delivery: Delivery) => void;

/**
 * Limits a subscription to one message of each topic in an interval. The first message is sent at once. Of the
 * messages that come within the interval the newest is sent at its end, which begins the next interval. Without memory
 * for an interval, or for its newest message, the message is sent when it comes [SEC-MEMORY-8].
 */
export class Conflation {
  readonly #delays: Delays;
  readonly #memory: ConflationMemory;
  readonly #intervals = new Map<string, Intervals>();
  readonly #bytesOfSessions = new Map<string, number>();
  #bytes = 0;

  constructor(delays: Delays, memory: ConflationMemory = NO_LIMIT) {
    this.#delays = delays;
    this.#memory = memory;
  }

  /**
   * Begins the interval of one topic of a conflated reader, which finds its messages in the stream. Calls back at its
   * end, unless the subscription ends before. False: there is no memory for it [SEC-GROWTH-2].
   */
  rest(sessionKey: string, { topicFilter, ms }: Conflate, topic: string, ended: () => void): boolean {
    return this.#open(sessionKey, topicFilter, topic, (key, intervals) =>
      this.#begin(key, intervals, topic, ms, () => {}, ended),
    );
  }

  /** Returns the deliveries that leave now, and holds the others. */
  take(message: Message, deliveries: readonly Delivery[], send: Send): readonly Delivery[] {
    if (!deliveries.some(({ conflate }) => conflate !== undefined)) return deliveries;
    return deliveries.filter((delivery) => this.#leavesNow({ message, delivery }, send));
  }

  /** The subscription has ended or changed: drops the messages held for it. */
  forget(sessionKey: string, topicFilter: string): void {
    const key = keyOf(sessionKey, topicFilter);
    const intervals = this.#intervals.get(key);
    if (intervals === undefined) return;
    this.#intervals.delete(key);
    for (const [topic, interval] of intervals.topics) {
      interval.cancel();
      this.#ended(sessionKey, topic, interval);
    }
  }

  /** Topics within their intervals, of all subscriptions. */
  get size(): number {
    let size = 0;
    for (const { topics } of this.#intervals.values()) size += topics.size;
    return size;
  }

  #leavesNow(given: Held, send: Send): boolean {
    const { message, delivery } = given;
    const { conflate, session } = delivery;
    if (conflate === undefined) return true;
    const interval = this.#intervals.get(keyOf(session.key, conflate.topicFilter))?.topics.get(message.topic);
    if (interval !== undefined) return !this.#holds(interval, given);
    this.#open(session.key, conflate.topicFilter, message.topic, (key, intervals) =>
      this.#begin(key, intervals, message.topic, conflate.ms, send),
    );
    return true;
  }

  /** Makes room for the interval of one more topic, and begins it. False: there is none. */
  #open(
    sessionKey: string,
    topicFilter: string,
    topic: string,
    begin: (key: string, intervals: Intervals) => void,
  ): boolean {
    const key = keyOf(sessionKey, topicFilter);
    const intervals = this.#intervals.get(key) ?? { sessionKey, topics: new Map() };
    const bytes = intervalBytes(topic);
    if (intervals.topics.size >= CONFLATED_TOPICS_MAX || !this.#hasRoom(sessionKey, bytes)) return false;
    this.#intervals.set(key, intervals);
    this.#count(sessionKey, bytes);
    begin(key, intervals);
    return true;
  }

  /** False: there is no memory for the message. The one before it is superseded all the same. */
  #holds(interval: Interval, given: Held): boolean {
    const { key } = given.delivery.session;
    this.#release(key, interval);
    const bytes = heldBytes(given);
    if (!this.#hasRoom(key, bytes)) return false;
    this.#count(key, bytes);
    interval.held = given;
    return true;
  }

  #begin(
    key: string,
    intervals: Intervals,
    topic: string,
    ms: number,
    send: Send,
    ended: () => void = () => {},
  ): void {
    const { sessionKey, topics } = intervals;
    const cancel = this.#delays.after(ms, () => {
      const { held } = interval;
      if (held === undefined) {
        topics.delete(topic);
        this.#ended(sessionKey, topic, interval);
        if (topics.size === 0) this.#intervals.delete(key);
        return ended();
      }
      this.#release(sessionKey, interval);
      this.#begin(key, intervals, topic, ms, send);
      send(held.message, held.delivery);
    });
    const interval: Interval = { held: undefined, cancel };
    topics.set(topic, interval);
  }

  #ended(sessionKey: string, topic: string, interval: Interval): void {
    this.#release(sessionKey, interval);
    this.#count(sessionKey, -intervalBytes(topic));
  }

  #release(sessionKey: string, interval: Interval): void {
    if (interval.held === undefined) return;
    this.#count(sessionKey, -heldBytes(interval.held));
    interval.held = undefined;
  }

  #hasRoom(sessionKey: string, bytes: number): boolean {
    const { isFull, bytesMax } = this.#memory;
    if (isFull || this.#bytes + bytes > bytesMax * HELD_SHARE) return false;
    return (this.#bytesOfSessions.get(sessionKey) ?? 0) + bytes <= bytesMax * SESSION_SHARE;
  }

  #count(sessionKey: string, bytes: number): void {
    this.#bytes += bytes;
    this.#memory.change(bytes);
    const ofSession = (this.#bytesOfSessions.get(sessionKey) ?? 0) + bytes;
    if (ofSession === 0) this.#bytesOfSessions.delete(sessionKey);
    else this.#bytesOfSessions.set(sessionKey, ofSession);
  }
}

function intervalBytes(topic: string): number {
  return INTERVAL_BYTES + 2 * topic.length;
}

/** Each session that holds a message counts it as its own. */
function heldBytes({ message }: Held): number {
  return HELD_BYTES + messageBytes(message);
}

function keyOf(sessionKey: string, topicFilter: string): string {
  return `${sessionKey}\0${topicFilter}`;
}
