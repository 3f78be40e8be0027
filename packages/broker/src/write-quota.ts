import { ReasonCode } from '@apus/mqtt';
import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection } from './link.ts';
import { Unavailable } from './ports/index.ts';

/** A client's writes are used up for now: the client is told, and may try again later. */
class WritesExceeded extends Unavailable {
  override readonly name = 'WritesExceeded';
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

/**
 * Charges a client for writes before they are made.
 *
 * @throws {Unavailable} if its writes are used up for now
 */
export function* takeWrites(
  { ports: { writeQuota } }: Context,
  { identity, session }: Connection,
  writes: number,
): Flow<void> {
  if (writeQuota === undefined || writes === 0) return;
  const isTaken = yield* waitFor(writeQuota.take({ identity, clientId: session.clientId }, writes));
  if (!isTaken) throw new WritesExceeded(`${session.clientId} has named as many filters as it may for now`);
}
