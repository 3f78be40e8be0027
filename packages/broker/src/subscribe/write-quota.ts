import { ReasonCode } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Connection } from '../model/link.ts';
import { Unavailable } from '../ports/index.ts';

/** A client's writes are used up for now: the client is told, and may try again later. */
class WritesExceeded extends Unavailable {
  override readonly name = 'WritesExceeded';
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

/** Bytes of a read unit, in DynamoDB. */
export const READ_UNIT_BYTES = 4_096;

/** A read of fewer units is free: a filter has been paid for as a write. */
const CHARGED_UNITS_MIN = 5;

/** Whether more may be read for the client now, as far as this process knows [SEC-POOL-6]. */
export function mayRead({ ports: { writeQuota } }: Context, { identity, session }: Connection): boolean {
  return writeQuota?.hasReadAll?.({ identity, clientId: session.clientId }) !== true;
}

/** Charges a client for what was read for it. False: nothing more may be read now. */
export function* chargeReads(
  { ports: { writeQuota } }: Context,
  { identity, session }: Connection,
  units: number,
): Flow<boolean> {
  if (writeQuota?.takeReads === undefined || units < CHARGED_UNITS_MIN) return true;
  return yield* waitFor(writeQuota.takeReads({ identity, clientId: session.clientId }, units));
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
