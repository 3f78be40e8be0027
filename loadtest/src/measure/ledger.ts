import type { SeenCounters } from './sequence.ts';

/** The layout of ledgers; a report reads no other. */
export const LEDGER_VERSION = 1;

/** The messages that one publisher has sent on one topic. */
export interface PublishedStream {
  readonly stream: number;
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  readonly payloadBytes: number;
  /** Messages handed to the network: their counters are 0 to `sent` - 1. */
  readonly sent: number;
  /** Counters of messages above QoS 0 that the broker has not acknowledged. */
  readonly unacknowledged: readonly number[];
  /** Messages that were due and were not sent, since the client was not connected or too far behind. */
  readonly notSent: number;
}

/** One subscriber's count of one stream's messages. */
export interface ReceivedStream {
  readonly stream: number;
  readonly seen: SeenCounters;
  readonly received: number;
  readonly duplicates: number;
  readonly outOfOrder: number;
}

export interface SubscriberRecord {
  /** Filters that the broker has granted. */
  readonly filters: readonly string[];
  readonly streams: readonly ReceivedStream[];
}

/** All counts of one process of a load generator at the end of a run. Plain JSON. */
export interface Ledger {
  readonly version: typeof LEDGER_VERSION;
  readonly runTag: number;
  readonly published: readonly PublishedStream[];
  readonly subscribers: readonly SubscriberRecord[];
  readonly connections: {
    readonly asked: number;
    readonly connected: number;
    /** Connections that ended unexpectedly. */
    readonly lost: number;
    /** By sentence: the reasons why connections failed or were lost, and other problems. */
    readonly problems: Readonly<Record<string, number>>;
  };
  /** Payloads that were not of this run, or had no header. */
  readonly foreign: number;
  /** PUBLISH packets received, duplicates included. */
  readonly publishesReceived: number;
  /** HDR histograms in base64. */
  readonly latencies: {
    readonly delivery: string;
    readonly connect: string;
    readonly acknowledge: string;
    /** How late the generator itself was. */
    readonly lag: string;
  };
  /** Only with text frames, over all clients of the process. */
  readonly frames?: FrameCounts;
  readonly cpuMicroseconds: number;
  /** In the clock of the run. */
  readonly times: {
    readonly firstAskedMicros?: number;
    readonly lastConnectedMicros?: number;
    readonly firstSentMicros?: number;
    readonly lastSentMicros?: number;
    readonly lastReceivedMicros?: number;
  };
}

/** The frames that clients of the gateway door have sent and received. */
export interface FrameCounts {
  readonly framesSent: number;
  readonly framesReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** By 32 KB begun, both directions. */
  readonly messagesBilled: number;
}
