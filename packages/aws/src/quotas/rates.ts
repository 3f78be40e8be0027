import { type Identity, type QuotaScopes, type RateQuotas, tenantQuotasOf } from '@apus/broker';
import type { Costs } from './shared-quota.ts';

const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;

/** The cost of one action to the account of each scope, in milliseconds. */
export function costsOf(
  quotas: QuotaScopes,
  identity: Pick<Identity, 'quotas' | 'plan'>,
  costMs: (rates: RateQuotas) => number,
): Costs {
  const own = identity.quotas === undefined ? quotas.identity : { ...quotas.identity, ...identity.quotas };
  return {
    identity: costMs(own),
    tenant: costMs(tenantQuotasOf(quotas, identity)),
    broker: costMs(quotas.broker),
  };
}

/** 0: no limit, and no cost. */
export function perSecond(count: number, countMax: number): number {
  return countMax === 0 ? 0 : (count * SECOND_MS) / countMax;
}

export function perMinute(count: number, countMax: number): number {
  return countMax === 0 ? 0 : (count * MINUTE_MS) / countMax;
}
