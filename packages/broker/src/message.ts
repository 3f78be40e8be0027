import type { MessageProperties, QoS } from '@apus/mqtt';

/**
 * An Application Message on its way. It is never changed after it was made: every recipient, queue and
 * retained copy shares the one object.
 */
export interface Message {
  /**
   * Unique, and ordered as the broker accepted messages: compare with `<`. From a hybrid logical clock, so that
   * processes with skewed clocks still agree on the order of what one caused in the other.
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
