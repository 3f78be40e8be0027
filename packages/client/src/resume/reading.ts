import { positionsOf, type UserProperties } from './position.ts';
import { type Arrival, Sequence } from './sequence.ts';

/** The most messages that one subscription holds. The broker sends further ones again. */
export const HELD_MESSAGES_MAX = 1_000;

/** Positions that one SUBSCRIBE may hold (docs/streams.md). */
const POSITIONS_MAX = 1_000;

const BEGINNINGS = new Set(['rewind', 'stream-offset', 'stream-position']);
const STREAM_PREFIX = /^\$(?:stream|s)\/[^/]*\/?/;

/** Whether a SUBSCRIBE reads a stream: it names a stream, or says where to begin. */
export function isReading(topicFilter: string, userProperties: UserProperties | undefined): boolean {
  return (
    STREAM_PREFIX.test(topicFilter) || Object.keys(userProperties ?? {}).some((name) => BEGINNINGS.has(name))
  );
}

/** `$stream/NAME/FILTER` and FILTER are one subscription. */
export function plainFilter(topicFilter: string): string {
  return topicFilter.replace(/^\$s(?:tream)?\/[^/]*\/(?=.)/, '');
}

/** The outcome of a SUBACK for a reading. 'plain': the filter has no stream. */
export type Grant = 'recovered' | 'gap' | 'plain';

/** A program's subscription to a stream, with the messages that it has received, by topic. */
export class Reading {
  readonly topicFilter: string;
  /** The Subscription Identifier, which each message of the subscription carries. */
  readonly identifier: number;
  /** The options as the program gave them. */
  readonly userProperties: UserProperties;
  readonly #topics = new Map<string, Sequence>();
  #isGranted = false;
  /** SUBACK named one topic, without its name. */
  #isOfOne = false;
  /** The filter has more topics than a SUBSCRIBE can hold positions of: the helper neither orders nor resumes it. */
  #isTooWide = false;
  /** SUBACK has come on this connection. */
  isLive = false;
  /** SUBSCRIBE has been sent on this connection, and SUBACK has not come. */
  isAsked = false;
  /** The program has unsubscribed. */
  isEnding = false;

  constructor(topicFilter: string, identifier: number, userProperties: UserProperties | undefined) {
    this.topicFilter = topicFilter;
    this.identifier = identifier;
    this.userProperties = userProperties ?? {};
  }

  get heldCount(): number {
    let count = 0;
    for (const sequence of this.#topics.values()) count += sequence.heldCount;
    return count;
  }

  /** A SUBACK has granted the subscription: since then the program must miss nothing. */
  get hasBegun(): boolean {
    return this.#isGranted;
  }

  /** The filter may have more topics by now than the broker reads at a time. */
  get mayBeTooWide(): boolean {
    return this.#isGranted && !this.#isTooWide && !this.#isOfOne;
  }

  /** The user properties for the next SUBSCRIBE: positions take the place of the program's own beginning. */
  ask(): UserProperties {
    this.isAsked = true;
    const others = Object.entries(this.userProperties).filter(([name]) => !BEGINNINGS.has(name));
    const positions = [...this.#topics].map(([topic, { position }]) => `${position} ${topic}`.trimEnd());
    if (positions.length > POSITIONS_MAX) this.widen();
    if (!this.#isGranted || this.#isTooWide) return this.userProperties;
    // There was no topic: all topics that have begun since are new.
    if (positions.length === 0) return { ...Object.fromEntries(others), 'stream-offset': 'earliest' };
    return { ...Object.fromEntries(others), 'stream-position': positions };
  }

  widen(): void {
    this.#isTooWide = true;
    this.#topics.clear();
  }

  granted(said: UserProperties | undefined): Grant {
    this.isAsked = false;
    this.isLive = true;
    const recovered = said?.['stream-recovered'];
    if (recovered === undefined) return 'plain';
    const isFirst = !this.#isGranted;
    this.#isGranted = true;
    if (!this.#isTooWide) this.#begin(said);
    return recovered === 'true' && (isFirst || !this.#isTooWide) ? 'recovered' : 'gap';
  }

  /** Returns 'ask' if messages are missing: the transport has to subscribe again to get them. */
  take(topic: string, arrival: Arrival): 'ask' | undefined {
    // A message that arrives before SUBACK was sent before it: the broker sends the message again after SUBACK.
    if (!this.isLive) return undefined;
    if (this.#isTooWide) arrival.handOver();
    else if (this.#sequence(topic, arrival).take(arrival) === 'lost') return 'ask';
    if (this.heldCount <= HELD_MESSAGES_MAX) return undefined;
    this.dropHeld();
    return 'ask';
  }

  /** Drops the held messages: the broker sends them again after the next SUBSCRIBE. */
  dropHeld(): void {
    for (const sequence of this.#topics.values()) sequence.dropHeld();
  }

  /** The connection has ended, or SUBACK has refused the subscription. */
  closed(): void {
    this.isLive = false;
    this.isAsked = false;
    this.dropHeld();
  }

  #begin(said: UserProperties | undefined): void {
    const after = new Map(positionsOf(said, 'stream-after').map(({ topic, number }) => [topic, number]));
    const newest = positionsOf(said, 'stream-position');
    this.#isOfOne = newest.length === 1 && newest[0]?.topic === undefined;
    const before = new Map(this.#topics);
    this.#topics.clear();
    for (const { epoch, number, topic } of newest) {
      const key = topic ?? '';
      const sequence = before.get(key);
      const begin = { epoch, after: after.get(topic) ?? number, newest: number };
      const next = sequence ?? new Sequence(epoch);
      next.begin(begin);
      this.#topics.set(key, next);
    }
  }

  #sequence(topic: string, { position: { epoch } }: Arrival): Sequence {
    const key = this.#isOfOne ? '' : topic;
    const known = this.#topics.get(key);
    if (known !== undefined) return known;
    // The topic has begun since SUBACK, which named all topics that there were.
    const sequence = new Sequence(epoch);
    this.#topics.set(key, sequence);
    return sequence;
  }
}
