import type { SessionRef } from '../session.ts';

/** Why a message did not reach a session that it was for. */
export type DropReason =
  /** QoS 1 or 2: the session's queue was full, and this message or an older one gave way. */
  | 'queue-full'
  /** QoS 0: the client did not read earlier messages. */
  | 'slow-consumer'
  /** Larger than the client's Maximum Packet Size, or than the door can carry. */
  | 'too-large'
  /** The rules have changed since it was queued. */
  | 'not-authorized'
  /** The client's identity has expired, and at QoS 0 nothing waits for its renewal. */
  | 'identity-expired';

/** Messages that were dropped, by their reason. A reason that is absent stands for none. */
export type DropCounts = Readonly<Partial<Record<DropReason, number>>>;

/** Tells a client of the messages that it has missed. */
export interface DropNotice {
  /** Since the client was told last, or since its session began. */
  readonly since: DropCounts;
  /** In all, since its session began. */
  readonly total: number;
}

/** Counts the dropped messages of each session until its client has been told. */
export interface Drops {
  add(session: SessionRef, why: DropReason, count: number): void;
  /** A message of a client or a caller had no subscriber. Absent where these are not counted. */
  addUnrouted?(): void;
  /**
   * Whether the client is to be told now: something was dropped since it was told last, and no caller asked within the last
   * second. `isUrgent`: however short ago that was. Asked with each acknowledgement, so it has to cost next to nothing
   * while nothing is dropped.
   */
  isDue(session: SessionRef, isUrgent: boolean): boolean;
  /** The notice. It counts as told from then on. */
  take(session: SessionRef): DropNotice;
}
