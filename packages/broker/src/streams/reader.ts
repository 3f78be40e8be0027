import type { Connections, StreamEntry } from '../ports/index.ts';
import type { ConnectionId, SessionRef } from '../session.ts';
import type { StreamKind } from './position.ts';

/** Topics that one reader may be behind in: each takes memory. */
export const TOPICS_BEHIND_MAX = 1000;

/** Readers of one connection. Beyond it: 0x97. */
export const READERS_PER_CONNECTION_MAX = 100;

/** How far a reader has got in one topic that it is not live in. */
export interface Cursor {
  epoch: string;
  /** Number of the last message that it was sent. */
  after: number;
  /** The newest message that was held back from it: it is live again behind that. */
  heldUpTo: number;
  /** Messages up to this number were there when it subscribed, and say so. */
  readonly pastUpTo: number;
  readonly kind: StreamKind | undefined;
  /** Last values that go before, the next one first. */
  values?: StreamEntry[] | undefined;
}

/** A subscription that reads a stream, on one connection. */
export interface Reader {
  readonly connectionId: ConnectionId;
  /** Whether a new message goes to it now; otherwise it is read from history when its turn comes. */
  takes(session: SessionRef, entry: StreamEntry, connections: Connections): boolean;
}

/**
 * A reader behind a door that keeps nothing in memory: history came with SUBACK, and everything else is live. On
 * another connection of its session it is sent nothing: that one subscribes for itself.
 */
export class LiveReader implements Reader {
  readonly connectionId: ConnectionId;

  constructor(connectionId: ConnectionId) {
    this.connectionId = connectionId;
  }

  takes({ attachment }: SessionRef): boolean {
    return attachment?.connectionId === this.connectionId;
  }
}

/**
 * A reader behind a door that keeps its readers in memory. It has no queue: what it cannot be sent now is read from history
 * later. In each topic it is either live or behind, and it changes from one to the other within one turn.
 */
export class StreamReader implements Reader {
  readonly connectionId: ConnectionId;
  readonly behind = new Map<string, Cursor>();
  /** Until it is known where it begins, everything is held back. */
  isJoining = true;
  /** It is behind in more topics than may be. */
  isLost = false;

  constructor(connectionId: ConnectionId) {
    this.connectionId = connectionId;
  }

  takes(
    { attachment }: SessionRef,
    { epoch, number, message }: StreamEntry,
    connections: Connections,
  ): boolean {
    if (attachment?.connectionId !== this.connectionId) return false;
    const cursor = this.behind.get(message.topic);
    if (cursor !== undefined) cursor.heldUpTo = number;
    else if (!this.isJoining && connections.isReady(this.connectionId)) return true;
    else this.#hold(message.topic, epoch, number);
    return false;
  }

  #hold(topic: string, epoch: string, number: number): void {
    if (this.behind.size >= TOPICS_BEHIND_MAX) {
      this.isLost = true;
      return;
    }
    this.behind.set(topic, { epoch, after: number - 1, heldUpTo: number, pastUpTo: 0, kind: undefined });
  }
}

/** Of a subscription whose connection has ended: it is sent nothing until its client subscribes again. */
export const ENDED_READER = new StreamReader('');
