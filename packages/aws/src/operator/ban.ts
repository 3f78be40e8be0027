import { ApiProblem } from '@apus/api';
import { BANS_MAX, type Ban, type Clock, type RetainedStore } from '@apus/broker';
import type { DynamoBans, DynamoTenants, DynamoUsers } from '@apus/store-dynamodb';
import type { Enforced, Enforcement, EnforcementOptions } from './enforcement.ts';

/**
 * How long after a ban the sessions of the banned clients are ended once more. A process uses its list for 30 s, its
 * handler may live for another 5 s, and clocks differ. After that no process lets a banned client in.
 */
const LIST_IN_FORCE_MS = 40_000;

/** False: the time of the request is nearly over, and it begins no further work. */
export type HasTime = () => boolean;

export interface OperatorContext extends EnforcementOptions {
  readonly enforcement: Enforcement;
  readonly bans: DynamoBans;
  readonly users: DynamoUsers;
  readonly tenants: DynamoTenants;
  /** Forgets what is retained for a tenant that is removed. */
  readonly retained: RetainedStore;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Bans first: from then on each end is final, except at processes that have not read the list yet.
 *
 * @throws {ApiProblem}
 */
export async function banAll(
  { bans, sleep, log, enforcement }: OperatorContext,
  hasTime: HasTime,
  wanted: Ban,
): Promise<Enforced> {
  if (!(await bans.add(wanted))) {
    const message = `The list is full: it has ${BANS_MAX} bans, or 200 KB. Take some back.`;
    throw new ApiProblem('BAD_REQUEST', message);
  }
  log.info('banned', { ...wanted });
  const first = await enforcement.of(wanted, hasTime);
  await sleep(LIST_IN_FORCE_MS);
  if (!hasTime()) return { ...first, is_complete: false };
  const second = await enforcement.of(wanted, hasTime);
  return { ...second, expelled: first.expelled + second.expelled };
}
