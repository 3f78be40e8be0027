import { type Attachment, type ConnectionId, type SessionRef, sessionKey } from '@apus/broker';

/**
 * How a session's queue stands, on the connection that it has.
 *
 * - `settling`: everything may have been sent, and whoever found it so is about to look again;
 * - `draining`: something waits, or has to be sent again; messages join the queue;
 * - `live`: nothing waits: a message may go at once, and packet ids 1 to Receive Maximum are the window;
 * - `crowded`: live, but packet ids of an earlier connection are in use: the window has to be counted.
 */
export type QueuePhase = 'settling' | 'draining' | 'live' | 'crowded';

export interface QueueStanding {
  phase: QueuePhase;
  /** Messages, and their bytes, that ever left the waiting ones. */
  removed: number;
  removedBytes: number;
  /** The number of the `open` that made it what it is. */
  readonly epoch: number;
  /** The incarnation began with the connection that it has, or had last. */
  readonly isNew: boolean;
}

export interface SessionName {
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
}

/** A session as it was read, with what its queue needs to know. The latter is private: a log line shows a `SessionRef`. */
export class SessionSnapshot implements SessionRef {
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  readonly attachment: Attachment | undefined;
  readonly #standing: QueueStanding | undefined;

  constructor(name: SessionName, attachment: Attachment | undefined, standing?: QueueStanding) {
    this.key = sessionKey(name.tenant, name.clientId);
    this.tenant = name.tenant;
    this.clientId = name.clientId;
    this.incarnation = name.incarnation;
    this.attachment = attachment;
    this.#standing = standing;
  }

  /** Undefined where the session was not read, or is not there any more. */
  get standing(): QueueStanding | undefined {
    return this.#standing;
  }
}

export function connectionOf({ attachment }: SessionRef): ConnectionId | undefined {
  return attachment?.connectionId;
}
