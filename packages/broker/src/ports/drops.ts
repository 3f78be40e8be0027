import type { SessionRef } from '../model/session.ts';

/** Why a session did not get a message. */
export type DropReason =
  /** QoS 1 or 2: the queue was full, and dropped this message or an older one. */
  | 'queue-full'
  /** QoS 0: the client was not reading. */
  | 'slow-consumer'
  /** Larger than the client's Maximum Packet Size, or than the door can carry. */
  | 'too-large'
  /** Rules have changed since the message was queued, or its subscription was made. */
  | 'not-authorized'
  /** QoS 0: the identity has expired. (At QoS 1 and 2 messages wait for its renewal.) */
  | 'identity-expired';

/** Numbers of dropped messages, by reason; an absent reason counts 0. */
export type DropCounts = Readonly<Partial<Record<DropReason, number>>>;

/** Tells a client how many messages it has missed. */
export interface DropNotice {
  /** Since the last notice, or since the session began. */
  readonly since: DropCounts;
  /** In all, since its session began. */
  readonly total: number;
}

/** Counts the dropped messages of each session until its client has been told. */
export interface Drops {
  add(session: SessionRef, why: DropReason, count: number): void;
  /** A message had no subscriber. Absent if such messages are not counted. */
  addUnrouted?(): void;
  /** A message did not fit the condition of a subscription. Absent if such messages are not counted. */
  addFiltered?(): void;
  /**
   * Whether the client should be told now: messages were dropped since the last notice, and the last call was more
   * than a second ago. `isUrgent`: however short ago. The broker asks with each acknowledgement, so the answer has to
   * cost next to nothing while nothing is dropped.
   */
  isDue(session: SessionRef, isUrgent: boolean): boolean;
  /** Takes the notice, which counts as told. */
  take(session: SessionRef): DropNotice;
  /** The session has ended. */
  forget(session: SessionRef): void;
}
