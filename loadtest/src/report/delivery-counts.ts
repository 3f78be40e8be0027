import { matches } from '@apus/mqtt';
import {
  CounterSet,
  type PublishedStream,
  type ReceivedStream,
  type SubscriberRecord,
} from '../measure/index.ts';

/** The fate of messages, counted and not assumed. */
export interface DeliveryCounts {
  /** A message to a subscriber, or to a share group, whose filter matches. */
  readonly expected: number;
  /** Those of them that came. */
  readonly received: number;
  /** Not received, although the broker had acknowledged the message (QoS 1 and 2), or it was sent (QoS 0). */
  readonly lost: number;
  /** Not received, and the broker had not acknowledged it yet: it has promised nothing. */
  readonly inDoubt: number;
  /** Received once more. At QoS 1 that is allowed. */
  readonly duplicates: number;
  /** Received after a later message of the same publisher and topic. */
  readonly outOfOrder: number;
  /** Received by a subscriber whose filters do not match, or never sent. */
  readonly unexpected: number;
}

type Totals = { -readonly [K in keyof DeliveryCounts]: number };

/** Compares the published messages with those that each subscriber has received. */
export function deliveryCounts(
  published: readonly PublishedStream[],
  subscribers: readonly SubscriberRecord[],
): DeliveryCounts {
  const index = new StreamIndex(published);
  const total = {
    expected: 0,
    received: 0,
    lost: 0,
    inDoubt: 0,
    duplicates: 0,
    outOfOrder: 0,
    unexpected: 0,
  };
  for (const { filters, members } of audiencesOf(subscribers)) count(index, filters, members, total);
  return total;
}

/** The receiver of each message: a subscriber, or all members of a share group together. */
interface Audience {
  readonly filters: readonly string[];
  readonly members: readonly SubscriberRecord[];
}

function audiencesOf(subscribers: readonly SubscriberRecord[]): readonly Audience[] {
  const groups = new Map<string, SubscriberRecord[]>();
  const audiences: Audience[] = [];
  for (const subscriber of subscribers) {
    const [filter = ''] = subscriber.filters;
    if (!filter.startsWith('$share/')) {
      audiences.push({ filters: subscriber.filters, members: [subscriber] });
      continue;
    }
    const members = groups.get(filter);
    if (members === undefined) groups.set(filter, [subscriber]);
    else members.push(subscriber);
  }
  for (const [filter, members] of groups) {
    audiences.push({ filters: [filter.split('/').slice(2).join('/')], members });
  }
  return audiences;
}

function count(
  index: StreamIndex,
  filters: readonly string[],
  members: readonly SubscriberRecord[],
  total: Totals,
): void {
  const received = new Map<number, ReceivedStream[]>();
  for (const member of members) {
    for (const stream of member.streams) {
      total.outOfOrder += stream.outOfOrder;
      total.duplicates += stream.duplicates;
      received.set(stream.stream, [...(received.get(stream.stream) ?? []), stream]);
    }
  }
  for (const stream of index.matching(filters)) {
    const parts = received.get(stream.stream) ?? [];
    received.delete(stream.stream);
    countStream(stream, parts, total);
  }
  // The remaining messages match none of its filters.
  for (const parts of received.values()) {
    for (const part of parts) total.unexpected += part.received;
  }
}

function countStream(stream: PublishedStream, parts: readonly ReceivedStream[], total: Totals): void {
  const seen = new CounterSet();
  for (const part of parts) seen.add(part.seen);
  const doubtful = new Set(stream.unacknowledged);
  let missing = 0;
  for (const counter of seen.missingBelow(stream.sent)) {
    missing += 1;
    if (doubtful.has(counter)) total.inDoubt += 1;
    else total.lost += 1;
  }
  const different = stream.sent - missing;
  const differentReceived = parts.reduce((sum, part) => sum + part.received, 0);
  total.expected += stream.sent;
  total.received += different;
  // Two members of a share group have received the same message; or one has received a counter that was never sent.
  const beyond = parts.reduce((sum, part) => sum + countersFrom(part, stream.sent), 0);
  total.unexpected += beyond;
  total.duplicates += differentReceived - beyond - different;
}

/** Counters that were received and never sent. */
function countersFrom({ seen, received }: ReceivedStream, sent: number): number {
  if (typeof seen === 'number') return Math.max(0, received - sent);
  const set = new CounterSet();
  set.add(seen);
  let below = 0;
  for (let counter = 0; counter < sent; counter += 1) if (set.has(counter)) below += 1;
  return received - below;
}

/** Streams by topic, so that a filter without wildcards finds its streams without looking at all of them. */
class StreamIndex {
  readonly #streams: readonly PublishedStream[];
  readonly #byTopic = new Map<string, PublishedStream[]>();

  constructor(streams: readonly PublishedStream[]) {
    this.#streams = streams;
    for (const stream of streams) {
      const others = this.#byTopic.get(stream.topic);
      if (others === undefined) this.#byTopic.set(stream.topic, [stream]);
      else others.push(stream);
    }
  }

  /** Each stream once, even if several of the filters match. */
  matching(filters: readonly string[]): ReadonlySet<PublishedStream> {
    const found = new Set<PublishedStream>();
    for (const filter of filters) {
      const streams = /[+#]/.test(filter)
        ? this.#streams.filter(({ topic }) => matches(filter, topic))
        : (this.#byTopic.get(filter) ?? []);
      for (const stream of streams) found.add(stream);
    }
    return found;
  }
}
