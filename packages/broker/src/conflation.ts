import { ReasonCode, type SubscribePacket, type SubscriptionRequest, Violation } from '@apus/mqtt';
import type { Context } from './context.ts';
import type { Connection, Link } from './link.ts';
import type { Message } from './message.ts';
import type { Delivery, Subscription } from './session.ts';
import { groupIntervalOf } from './streams/conflated-intervals.ts';

/** The user property of a SUBSCRIBE that asks for at most one message of each topic in this many milliseconds. */
export const CONFLATE_PROPERTY = 'conflate-ms';

/** An hour: a reader that needs messages less often polls. */
const CONFLATE_MS_MAX = 3_600_000;

/**
 * Topics that one subscription may have within their intervals; the broker holds the newest message of each. Messages
 * of further topics are sent as they come.
 */
export const CONFLATED_TOPICS_MAX = 10_000;

/** Identifies the subscription by which a delivery is conflated. */
export interface Conflate {
  readonly topicFilter: string;
  readonly ms: number;
}

/**
 * The interval that a SUBSCRIBE asks for. A `Violation` has the reason code for SUBACK, and does not end the
 * connection.
 */
export function conflateMsOf(
  { ports }: Context,
  { readers, drainSoon }: Link,
  { requestProblemInformation }: Connection,
  packet: SubscribePacket,
  { topicFilter }: SubscriptionRequest,
): number | Violation | undefined {
  const given = packet.properties.userProperties?.find(([name]) => name === CONFLATE_PROPERTY)?.[1];
  if (given === undefined) return undefined;
  const refuse = (reason: string) => new Violation(ReasonCode.ImplementationSpecificError, reason);
  const holds = ports.conflation !== undefined && readers !== undefined && drainSoon !== undefined;
  // A door whose process ends with the call has no timer for held messages.
  if (!holds && ports.conflated === undefined)
    return refuse(`${CONFLATE_PROPERTY} is not granted at this door, which sends each message when it comes`);
  const ms = /^\d{1,7}$/.test(given) ? Number(given) : 0;
  if (ms < 1 || ms > CONFLATE_MS_MAX)
    return refuse(
      `${CONFLATE_PROPERTY} takes milliseconds from 1 to ${CONFLATE_MS_MAX}, not ${JSON.stringify(given.slice(0, 50))}`,
    );
  if (topicFilter.startsWith('$share/')) return refuse('a shared subscription cannot be conflated');
  if (packet.subscriptions.length > 1)
    return refuse(`a SUBSCRIBE that asks for ${CONFLATE_PROPERTY} has one topic filter`);
  if (!requestProblemInformation)
    return refuse('SUBACK answers in user properties: CONNECT with Request Problem Information 1');
  if (holds) return ms;
  const intervalMs = groupIntervalOf(ports.streams, topicFilter, ms);
  return typeof intervalMs === 'string' ? refuse(intervalMs) : intervalMs;
}

/** Calls back within this process. */
export interface Delays {
  /** Once, at or after this many milliseconds. */
  after(delayMs: number, callback: () => void): unknown;
}

interface Held {
  readonly message: Message;
  readonly delivery: Delivery;
}

/** An interval of one topic, and the newest message that has come within it. */
interface Interval {
  held: Held | undefined;
}

type Send = (message: Message, delivery: Delivery) => void;

/**
 * Limits a subscription to one message of each topic in an interval. The first message is sent at once. Of the
 * messages that come within the interval the newest is sent at its end, which begins the next interval.
 */
export class Conflation {
  readonly #delays: Delays;
  readonly #intervals = new Map<string, Map<string, Interval>>();

  constructor(delays: Delays) {
    this.#delays = delays;
  }

  /** Calls back once, at or after so many milliseconds. */
  after(delayMs: number, callback: () => void): void {
    this.#delays.after(delayMs, callback);
  }

  /** Returns the deliveries that leave now, and holds the others. */
  take(message: Message, deliveries: readonly Delivery[], send: Send): readonly Delivery[] {
    if (!deliveries.some(({ conflate }) => conflate !== undefined)) return deliveries;
    return deliveries.filter((delivery) => this.#leavesNow({ message, delivery }, send));
  }

  /** The subscription has ended or changed: drops the messages held for it. */
  forget(sessionKey: string, topicFilter: string): void {
    this.#intervals.delete(keyOf(sessionKey, topicFilter));
  }

  /** Topics within their intervals, of all subscriptions. */
  get size(): number {
    let size = 0;
    for (const topics of this.#intervals.values()) size += topics.size;
    return size;
  }

  #leavesNow(given: Held, send: Send): boolean {
    const { message, delivery } = given;
    const { conflate, session } = delivery;
    if (conflate === undefined) return true;
    const key = keyOf(session.key, conflate.topicFilter);
    const topics = this.#intervals.get(key) ?? new Map<string, Interval>();
    const interval = topics.get(message.topic);
    if (interval !== undefined) {
      interval.held = given;
      return false;
    }
    if (topics.size >= CONFLATED_TOPICS_MAX) return true;
    this.#intervals.set(key, topics);
    this.#begin(key, topics, message.topic, conflate.ms, send);
    return true;
  }

  #begin(key: string, topics: Map<string, Interval>, topic: string, ms: number, send: Send): void {
    const interval: Interval = { held: undefined };
    topics.set(topic, interval);
    this.#delays.after(ms, () => {
      if (this.#intervals.get(key) !== topics) return;
      topics.delete(topic);
      const { held } = interval;
      if (held === undefined) {
        if (topics.size === 0) this.#intervals.delete(key);
        return;
      }
      this.#begin(key, topics, topic, ms, send);
      send(held.message, held.delivery);
    });
  }
}

function keyOf(sessionKey: string, topicFilter: string): string {
  return `${sessionKey}\0${topicFilter}`;
}

/** The fields of a subscription by which its deliveries are conflated. */
export function conflateOf({ topicFilter, conflateMs }: Subscription): Conflate | undefined {
  return conflateMs === undefined ? undefined : { topicFilter, ms: conflateMs };
}
