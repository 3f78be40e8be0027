import { type Attachment, type ConnectionId, type SessionRef, sessionKey } from '@apus/broker';
import type { StoredRecord } from '../queue/types.ts';

/** The last CONNECT of a session, for its queue. */
export interface Opening {
  /** How many CONNECTs the session has had, with this one. */
  readonly epoch: number;
  /** The incarnation began with its present connection, or its last one. */
  readonly isNew: boolean;
}

export interface SessionName {
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
}

/**
 * A session as it was read. It has the last CONNECT and the record if they were read: the queue needs them. Both are
 * private, so that a log line shows a `SessionRef`.
 */
export class SessionSnapshot implements SessionRef {
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  readonly attachment: Attachment | undefined;
  readonly #opening: Opening | undefined;
  readonly #stored: StoredRecord | undefined;

  constructor(
    name: SessionName,
    attachment: Attachment | undefined,
    read: { readonly opening?: Opening; readonly stored?: StoredRecord } = {},
  ) {
    this.key = sessionKey(name.tenant, name.clientId);
    this.tenant = name.tenant;
    this.clientId = name.clientId;
    this.incarnation = name.incarnation;
    this.attachment = attachment;
    this.#opening = read.opening;
    this.#stored = read.stored;
  }

  /** Undefined: the session item was not read. */
  get opening(): Opening | undefined {
    return this.#opening;
  }

  /** Undefined: the record was not read. */
  get stored(): StoredRecord | undefined {
    return this.#stored;
  }
}

export function connectionOf({ attachment }: SessionRef): ConnectionId | undefined {
  return attachment?.connectionId;
}
