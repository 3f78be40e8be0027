import { ApiProblem } from '@apus/api';
import type { DynamoStores } from '@apus/store-dynamodb';
import type { HasTime } from '../operator/ban.ts';
import { sessionsOf } from '../operator/table-walk.ts';

/** Tenants whose counts are kept. */
export const COUNTED_TENANTS_MAX = 1_000;

export interface Counts {
  readonly sessions: number;
  readonly connected: number;
}

/**
 * Counts the sessions and connections of a tenant by a walk over the table.
 *
 * @throws {ApiProblem} if there is not enough time for the walk
 */
export async function countsOf(
  scan: DynamoStores['sweepScan'],
  tenant: string,
  hasTime: HasTime,
): Promise<Counts> {
  const counts = { sessions: 0, connected: 0 };
  for await (const sessions of sessionsOf(scan)) {
    const own = sessions.filter((session) => session.tenant === tenant);
    counts.sessions += own.length;
    counts.connected += own.filter(({ connectionId }) => connectionId !== undefined).length;
    if (!hasTime())
      throw new ApiProblem('SERVICE_UNAVAILABLE', 'The time was not enough to count all sessions.');
  }
  return counts;
}
