import type { UsageCounts } from '@apus/broker';

/** The part of a connection's time and traffic that has been counted for its tenant. Changed in place at each look. */
export class CountedUsage {
  #atMs: number;
  #receivedMessages = 0;
  #receivedBytes = 0;
  #sentMessages = 0;
  #sentQos1 = 0;
  #sentQos2 = 0;
  #sentBytes = 0;

  /** @param atMs of the handshake */
  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  /** Adds what was used since the last call, or since the handshake. */
  take(traffic: LinkTraffic, nowMs: number, to: UsageCounts): void {
    const { receivedMessages, receivedBytes, sentMessages, sentQos1, sentQos2, sentBytes } = traffic;
    const qos1 = sentQos1 - this.#sentQos1;
    const qos2 = sentQos2 - this.#sentQos2;
    to.connectionMs += Math.max(0, nowMs - this.#atMs);
    to.messagesIn += receivedMessages - this.#receivedMessages;
    to.bytesIn += receivedBytes - this.#receivedBytes;
    to.messagesOutQos0 += sentMessages - this.#sentMessages - qos1 - qos2;
    to.messagesOutQos1 += qos1;
    to.messagesOutQos2 += qos2;
    to.bytesOut += sentBytes - this.#sentBytes;
    this.#atMs = nowMs;
    this.#receivedMessages = receivedMessages;
    this.#receivedBytes = receivedBytes;
    this.#sentMessages = sentMessages;
    this.#sentQos1 = sentQos1;
    this.#sentQos2 = sentQos2;
    this.#sentBytes = sentBytes;
  }
}

/** The connection whose usage is counted. */
export interface Used {
  readonly openedAtMs: number;
  readonly traffic: LinkTraffic;
  /** For `takeUsage` alone. */
  counted: CountedUsage | undefined;
}

export function takeUsage(link: Used, nowMs: number, to: UsageCounts): void {
  link.counted ??= new CountedUsage(link.openedAtMs);
  link.counted.take(link.traffic, nowMs, to);
}

/** Traffic of one connection so far. */
export interface LinkTraffic {
  receivedMessages: number;
  receivedBytes: number;
  sentMessages: number;
  /** How many of them had QoS 1, and QoS 2. */
  sentQos1: number;
  sentQos2: number;
  sentBytes: number;
}
