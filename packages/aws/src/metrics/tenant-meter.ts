import type { UsageCounter, UsageCounts } from '@apus/broker';

/** Messages of a tenant to and from clients. */
export interface TenantTraffic {
  readonly tenant: string;
  readonly messagesIn: number;
  readonly messagesOut: number;
}

/** The name for all tenants but the largest. It has a blank, which no tenant's name has. */
export const OTHER_TENANTS = 'all others';

/** Tenants that are counted one by one between two flushes. Further tenants are counted as `OTHER_TENANTS`. */
const TENANTS_MAX = 1_000;

/**
 * Counts the traffic of tenants between two flushes. CloudWatch bills each value of a dimension as a metric, so only
 * the largest tenants have values of their own, and all others share one.
 */
export class TenantMeter implements UsageCounter {
  readonly #largest: number;
  #byTenant = new Map<string, { messagesIn: number; messagesOut: number }>();

  /** @param largest tenants that have a name of their own */
  constructor(largest: number) {
    this.#largest = largest;
  }

  add(tenant: string, counts: Partial<UsageCounts>): void {
    const { messagesIn = 0, messagesOutQos0 = 0, messagesOutQos1 = 0, messagesOutQos2 = 0 } = counts;
    const messagesOut = messagesOutQos0 + messagesOutQos1 + messagesOutQos2;
    if (messagesIn + messagesOut === 0) return;
    const isKnown = this.#byTenant.has(tenant) || this.#byTenant.size < TENANTS_MAX;
    const sum = this.#sumOf(isKnown ? tenant : OTHER_TENANTS);
    sum.messagesIn += messagesIn;
    sum.messagesOut += messagesOut;
  }

  /** Returns the counts and begins anew: the largest tenants first, then all others together. */
  take(): readonly TenantTraffic[] {
    const all = [...this.#byTenant].map(([tenant, sum]) => ({ tenant, ...sum }));
    this.#byTenant = new Map();
    const named = all.filter(({ tenant }) => tenant !== OTHER_TENANTS);
    named.sort((a, b) => b.messagesIn + b.messagesOut - a.messagesIn - a.messagesOut);
    const largest = named.slice(0, this.#largest);
    const others = all.filter((each) => !largest.includes(each));
    if (others.length === 0) return largest;
    const sum = { tenant: OTHER_TENANTS, messagesIn: 0, messagesOut: 0 };
    for (const { messagesIn, messagesOut } of others) {
      sum.messagesIn += messagesIn;
      sum.messagesOut += messagesOut;
    }
    return [...largest, sum];
  }

  #sumOf(tenant: string): { messagesIn: number; messagesOut: number } {
    let sum = this.#byTenant.get(tenant);
    if (sum === undefined) {
      sum = { messagesIn: 0, messagesOut: 0 };
      this.#byTenant.set(tenant, sum);
    }
    return sum;
  }
}

/** Counts with both counters. */
export function both(
  one: UsageCounter | undefined,
  other: UsageCounter | undefined,
): UsageCounter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    add(tenant, counts) {
      one.add(tenant, counts);
      other.add(tenant, counts);
    },
  };
}
