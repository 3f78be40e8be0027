import { MEASURED_BUDGETS as MEASURED } from '@apus/cost';
import type { StoreUse } from '../model.ts';

/** The use of the store by the frames of a returning client with one filter. Measured: docs/costs.md. */
export const HANDSHAKE_USE: StoreUse = { calls: 0, reads: 0, writes: 0 };

export const CONNECT_USE: StoreUse = { calls: 2, ...MEASURED.connect };

export const SUBSCRIBE_USE: StoreUse = {
  calls: 5,
  reads: MEASURED.subscribeFrame.reads + MEASURED.subscribeFilter.reads,
  writes: MEASURED.subscribeFrame.writes + MEASURED.subscribeFilter.writes,
};

/** CONNECT to a session that continues, and dequeues the messages that wait. */
export function connectKeptUse(waiting: number): StoreUse {
  const { connectPersistent, draw } = MEASURED;
  return {
    calls: 4,
    reads: connectPersistent.reads + waiting * draw.reads,
    writes: connectPersistent.writes + waiting * draw.writes,
  };
}

export function acknowledgeUse(waiting: number): StoreUse {
  return { calls: 2, reads: MEASURED.acknowledgeFrame.reads, writes: waiting * MEASURED.acknowledge.writes };
}

/** The end of a connection: in the table "Connection lost, clean, one filter". */
export const LOSS_USE: StoreUse = { calls: 3, reads: 2, writes: 4 };

/** The loss of a persistent session costs as much as its DISCONNECT. */
export const KEPT_LOSS_USE: StoreUse = { calls: 3, reads: 2, writes: 3 };

/**
 * Computed, not measured: a lost connection that may be resumed is marked, and its session ends after the grace period.
 */
export const MARK_LOST_USE: StoreUse = { calls: 1, reads: 1, writes: 1 };
export const END_LOST_USE: StoreUse = { calls: 3, reads: 2, writes: 3 };

/** Computed, not measured: a move of a session with one filter (4 and 5), and the end of the buffer. */
export const RESUME_USE: StoreUse = { calls: 6, reads: 5, writes: 6 };

/** A post to a lost connection reads where its messages belong, for each message that is kept. */
export const BUFFER_READS = 1;

/** MQTT bytes of the replies in base64, with a clock and a ticket. */
export const CONNACK_BYTES = 75;
export const SUBACK_BYTES = 23;
export const RESUMED_BYTES = 75;
