import { MEASURED_BUDGETS as MEASURED, type Units } from '@apus/cost';
import type { StoreUse } from '../model.ts';

/** The use of the store by the frames of a returning client with one filter (loadtest/results/operations.md). */
export const HANDSHAKE_USE: StoreUse = { calls: 0, reads: 0, writes: 0 };

export const CONNECT_USE: StoreUse = { calls: 2, ...MEASURED.connect };

export const SUBSCRIBE_USE: StoreUse = {
  calls: 5,
  ...sum(MEASURED.subscribeFrame, MEASURED.subscribeFilter),
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

/** The end of a connection whose client does not resume costs as much as its DISCONNECT. */
export const LOSS_USE: StoreUse = { calls: 3, ...sum(MEASURED.disconnect, MEASURED.disconnectFilter) };

export const KEPT_LOSS_USE: StoreUse = { calls: 3, ...MEASURED.lossPersistent };

/** Computed, not measured: a lost connection that may be resumed is marked. */
export const MARK_LOST_USE: StoreUse = { calls: 1, reads: 1, writes: 1 };

/** The rest of a loss: the session ends after its grace period. */
export const END_LOST_USE: StoreUse = {
  calls: 3,
  ...difference(sum(MEASURED.loss, MEASURED.lossFilter), MARK_LOST_USE),
};

/** The rest of a loss and its resume, with the timer that finds the client back. */
export const RESUME_USE: StoreUse = {
  calls: 6,
  ...difference(sum(MEASURED.resume, MEASURED.resumeFilter), MARK_LOST_USE),
};

/** A post to a lost connection reads where its messages belong, for each message that is kept. */
export const BUFFER_READS = 1;

/** MQTT bytes of the replies in base64, with a clock and a ticket. */
export const CONNACK_BYTES = 75;
export const SUBACK_BYTES = 23;
export const RESUMED_BYTES = 75;

function sum(one: Units, other: Units): Units {
  return { reads: one.reads + other.reads, writes: one.writes + other.writes };
}

function difference(whole: Units, part: Units): Units {
  return { reads: whole.reads - part.reads, writes: whole.writes - part.writes };
}
