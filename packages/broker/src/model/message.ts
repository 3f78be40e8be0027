import type { MessageProperties, QoS } from '@apus/mqtt';

/**
 * An Application Message. It never changes: all recipients, queues and retained copies share the one object.
 */
export interface Message {
  /**
   * Unique, and in the order in which the broker accepted messages: compare with `<`. A hybrid logical clock makes it,
   * so processes with skewed clocks agree on the order of cause and effect.
   */
  readonly id: MessageId;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: QoS;
  /** The RETAIN flag of the PUBLISH that carried it. */
  readonly retain: boolean;
  readonly properties: MessageProperties;
  /** Milliseconds since the epoch; after it the message may no longer be sent. Undefined: never. */
  readonly expiresAtMs: number | undefined;
  /** The session that published it, for No Local. Undefined: the broker itself, or an HTTP client. */
  readonly publisherKey: string | undefined;
}

export type MessageId = string;

/** Seconds of life left as a PUBLISH states them: whole, and at least 1 while the message lives [MQTT-3.3.2-6]. */
export function remainingSeconds(expiresAtMs: number, nowMs: number): number {
  return Math.ceil((expiresAtMs - nowMs) / 1000);
}

export function isExpired(message: Message, nowMs: number): boolean {
  return message.expiresAtMs !== undefined && message.expiresAtMs <= nowMs;
}
