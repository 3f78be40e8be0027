import { type Attachment, type ConnectionId, type SessionRef, sessionKey } from '@apus/broker';
import type { HeldRecord } from '../queue/records.ts';

/** The last CONNECT of a session, as its queue needs to know it. */
export interface Opening {
  /** CONNECTs so far, this one included. */
  readonly epoch: number;
  /** The incarnation began with the connection that it has, or had last. */
  readonly isNew: boolean;
}

export interface SessionName {
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
}

/**
 * A session as it was read. It carries its last CONNECT if the session item was read, and its record if that was read:
 * the queue needs them. Both are private: a log line shows a `SessionRef`.
 */
export class SessionSnapshot implements SessionRef {
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  readonly attachment: Attachment | undefined;
  readonly #opening: Opening | undefined;
  readonly #held: HeldRecord | undefined;

  constructor(
    name: SessionName,
    attachment: Attachment | undefined,
    read: { readonly opening?: Opening; readonly held?: HeldRecord } = {},
  ) {
    this.key = sessionKey(name.tenant, name.clientId);
    this.tenant = name.tenant;
    this.clientId = name.clientId;
    this.incarnation = name.incarnation;
    this.attachment = attachment;
    this.#opening = read.opening;
    this.#held = read.held;
  }

  /** Undefined where the session item was not read. */
  get opening(): Opening | undefined {
    return this.#opening;
  }

  /** Undefined where the record was not read. */
  get held(): HeldRecord | undefined {
    return this.#held;
  }
}

export function connectionOf({ attachment }: SessionRef): ConnectionId | undefined {
  return attachment?.connectionId;
}
