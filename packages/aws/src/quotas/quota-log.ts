import type { Log } from '@apus/broker';
import type { Meter } from '../metrics/meter.ts';
import { METRICS } from '../metrics/metric-names.ts';
import type { Exhausted } from './shared-quota.ts';

/** Counts a refusal. When an environment learns of it, logs whose quota is used up. */
export function tellExhausted(log: Log, meter: Meter, { account, isNews, forMs }: Exhausted): void {
  meter.add(METRICS.identitiesLimited);
  if (isNews) log.warn('identity-limited', { ...account, forMs });
}
