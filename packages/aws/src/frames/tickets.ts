import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConnectionId } from '@apus/broker';
import type { Environment } from '../environment.ts';

/** 128 bits. */
const SECRET_BYTES = 16;

/**
 * A ticket names a connection and proves that its bearer is the connection's client. The connection's item has its
 * hash.
 */
export interface Ticket {
  readonly connectionId: ConnectionId;
  readonly secret: Buffer;
}

export function newTicket(connectionId: ConnectionId): Ticket {
  return { connectionId, secret: randomBytes(SECRET_BYTES) };
}

/**
 * The ticket of the connection that a session has moved to. A handler that repeats the move makes the same ticket, so
 * it need not be stored.
 */
export function nextTicket({ secret }: Ticket, connectionId: ConnectionId): Ticket {
  const hmac = createHmac('sha256', secret).update(connectionId).digest();
  return { connectionId, secret: hmac.subarray(0, SECRET_BYTES) };
}

/**
 * The move field of a reply: the ticket, the age at which the gateway closes the connection, and, for a client that
 * has offered to resume, within how many seconds after a loss it may.
 */
export function movableWith(
  { connectionSeconds }: Pick<Environment, 'connectionSeconds'>,
  ticket: string,
  resumeSeconds: number | undefined,
): string {
  const lasts = resumeSeconds === undefined ? '' : `,${resumeSeconds}`;
  return `${ticket},${connectionSeconds}${lasts}`;
}

export function ticketText({ connectionId, secret }: Ticket): string {
  return `${connectionId}.${secret.toString('base64url')}`;
}

/** Undefined where the text is no ticket. */
export function readTicket(text: string): Ticket | undefined {
  const end = text.lastIndexOf('.');
  const secret = Buffer.from(text.slice(end + 1), 'base64url');
  if (end < 1 || secret.length !== SECRET_BYTES) return undefined;
  return { connectionId: text.slice(0, end), secret };
}

export function hashOf(ticket: Ticket): string {
  return createHash('sha256')
    .update(ticketText(ticket))
    .digest()
    .subarray(0, SECRET_BYTES)
    .toString('base64url');
}

/** Takes the same time for every wrong ticket. */
export function isTicketOf(hash: string | undefined, ticket: Ticket): boolean {
  if (hash === undefined) return false;
  const [one, other] = [Buffer.from(hash), Buffer.from(hashOf(ticket))];
  return one.length === other.length && timingSafeEqual(one, other);
}
