import type { GivenWorkload } from '@apus/cost';
import type { MessageLog, Qos } from '../../engine/types.ts';

/** The newest messages that are counted: enough for an average, and few enough to be fast. */
const OBSERVED_MAX = 5_000;

/** The traffic of a shorter time says little about an hour, and nothing about a month. */
export const OBSERVED_MS_ENOUGH = 60_000;

const HOUR_MS = 3_600_000;

/** The traffic of a connection, estimated from its last messages. */
export interface Observed {
  /** From the first of them until now. */
  readonly spanMs: number;
  /** The number of messages. */
  readonly messages: number;
  readonly publishedPerHour: number;
  readonly receivedPerHour: number;
  readonly payloadBytes: number;
  readonly topicBytes: number;
  /** The most frequent one. */
  readonly qos: Qos;
}

/** @returns undefined if no message has passed */
export function observe(log: MessageLog, nowMs: number): Observed | undefined {
  const first = Math.max(log.firstSequence, log.endSequence - OBSERVED_MAX);
  const count = { published: 0, received: 0 };
  const byQos = [0, 0, 0];
  let payloadBytes = 0;
  let topicBytes = 0;
  for (let sequence = first; sequence < log.endSequence; sequence += 1) {
    const message = log.at(sequence);
    if (message === undefined) continue;
    count[message.direction] += 1;
    byQos[message.qos] = (byQos[message.qos] ?? 0) + 1;
    payloadBytes += message.payloadLength;
    topicBytes += message.topic.length;
  }
  const total = count.published + count.received;
  if (total === 0) return undefined;
  // A single message would have no span: it is counted as the traffic of a second.
  const spanMs = Math.max(1_000, nowMs - (log.at(first)?.atMs ?? nowMs));
  const mostFrequent = byQos.indexOf(Math.max(...byQos));
  return {
    spanMs,
    messages: total,
    publishedPerHour: (count.published * HOUR_MS) / spanMs,
    receivedPerHour: (count.received * HOUR_MS) / spanMs,
    payloadBytes: Math.round(payloadBytes / total),
    topicBytes: Math.max(1, Math.round(topicBytes / total)),
    qos: mostFrequent === 2 ? 2 : mostFrequent === 1 ? 1 : 0,
  };
}

/**
 * A fleet of clients like this one. Among clients that are all alike, messages received by messages published is
 * the number of a message's recipients; if this one only receives, another client publishes for it alone.
 */
export function workloadOf({
  publishedPerHour,
  receivedPerHour,
  payloadBytes,
  topicBytes,
  qos,
}: Observed): GivenWorkload {
  const isPublisher = publishedPerHour > 0;
  return {
    publishesPerHour: Math.round(isPublisher ? publishedPerHour : receivedPerHour),
    fanOut: isPublisher ? Math.round((receivedPerHour / publishedPerHour) * 10) / 10 : 1,
    bytes: payloadBytes,
    topicBytes,
    qos,
  };
}
