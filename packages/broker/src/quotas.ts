/** Rates. A used-up rate recovers with time alone. */
export interface RateQuotas {
  /** MQTT packets a second; a SUBSCRIBE or UNSUBSCRIBE counts once for each filter in it. At the node door. */
  readonly packetsPerSecondMax: number;
  /** Frames a second. At the gateway door, which pays for each. */
  readonly framesPerSecondMax: number;
  /** PUBLISH packets a second. */
  readonly publishesPerSecondMax: number;
  /** Bytes of MQTT packets a second, from clients. */
  readonly bytesPerSecondMax: number;
  /**
   * Writes a minute: one for each filter of a SUBSCRIBE or UNSUBSCRIBE, and for each kilobyte begun of a message that is
   * to be retained. At the gateway door, which pays for each.
   */
  readonly writesPerMinuteMax: number;
  /** Copies of messages a minute that publishes cause. */
  readonly deliveriesPerMinuteMax: number;
  /**
   * Messages a minute as the gateway counts them, and the breaker: two for a frame, which has a reply, and one for each
   * delivery. At the gateway door.
   */
  readonly messagesPerMinuteMax: number;
}

/** Things that are held, and are free again when they are let go. */
export interface HoldingQuotas {
  /** Connections at a time. */
  readonly connectionsMax: number;
  /** Sessions, connected or not. */
  readonly sessionsMax: number;
  /** Subscriptions of all its sessions; a filter counts as `subscriptionWeight` says. At the node door. */
  readonly subscriptionsMax: number;
}

/**
 * Messages that are kept in the name of one identity, or for a tenant whose plan says so. Limits bound those of every
 * other tenant (`retainedBytesMax`, and of the node door `tenantQueueBytesMax`).
 */
export interface KeptQuotas {
  /** Retained messages that it has published, and no other identity has replaced. */
  readonly retainedMessagesMax: number;
  /** The same as `retainedBytes` counts them. */
  readonly retainedBytesMax: number;
  /**
   * Memory of messages in the queues of its sessions, and inflight; a message of several queues counts once. At the node
   * door: in a deployment a queue's bytes are those of a publish, which `bytesPerSecondMax` bounds, and to count them for
   * a tenant would cost as much as to store them (docs/tenants.md).
   */
  readonly queuedBytesMax: number;
}

/** Bounds of all of one tenant together. 0 stands for any number. */
export type TenantQuotas = RateQuotas & HoldingQuotas;

/** Bounds of a tenant where they differ from those that every tenant has: connections, rates, and what is kept for it. */
export type TenantPlan = Partial<TenantQuotas & KeptQuotas>;

/** Bounds of one identity. 0 stands for any number. */
export type Quotas = TenantQuotas & KeptQuotas;

/**
 * Quotas by their holder. A client that takes too much meets its own quota first, then its tenant's, then the one of
 * all clients.
 */
export interface QuotaScopes {
  /** Of each identity. An anonymous client is counted by its address. `Identity.quotas` has the exceptions. */
  readonly identity: Quotas;
  readonly tenant: TenantQuotas;
  /** Of all together. Limits bound the things that all hold: `sessionsMax`, and of the node door `connectionsMax`. */
  readonly broker: RateQuotas;
}

/** Part of them; the others keep their defaults. */
export interface GivenQuotaScopes {
  readonly identity?: Partial<Quotas>;
  readonly tenant?: Partial<TenantQuotas>;
  readonly broker?: Partial<RateQuotas>;
}

const ANY_RATE: RateQuotas = {
  packetsPerSecondMax: 0,
  framesPerSecondMax: 0,
  publishesPerSecondMax: 0,
  bytesPerSecondMax: 0,
  writesPerMinuteMax: 0,
  deliveriesPerMinuteMax: 0,
  messagesPerMinuteMax: 0,
};

const ANY_OF_TENANT: TenantQuotas = { ...ANY_RATE, connectionsMax: 0, sessionsMax: 0, subscriptionsMax: 0 };

const ANY: Quotas = { ...ANY_OF_TENANT, retainedMessagesMax: 0, retainedBytesMax: 0, queuedBytesMax: 0 };

/** Any number of anything. */
export const NO_QUOTAS: QuotaScopes = { identity: ANY, tenant: ANY_OF_TENANT, broker: ANY_RATE };

/** Of `DEFAULT_LIMITS`, which bound a tenant: one identity leaves room for the others of its tenant. */
const HALF_OF_RETAINED = { retainedMessagesMax: 500_000, retainedBytesMax: 32 * 1024 * 1024 } as const;

/**
 * Of the node door. One processor takes some 80,000 publishes a second, and makes some 300,000 deliveries
 * (docs/benchmarks.md): an identity has a quarter of the former and a third of the latter. A tenant, and all together,
 * may have the whole machine: clients take turns, and the machine is not billed by use.
 *
 * Held things are not shared by turns: an identity may hold half of what the door has (`connectionsMax`, `sessionsMax`),
 * as many anonymous clients may stand behind one address, and a tenant nine tenths.
 */
export const NODE_QUOTAS: QuotaScopes = {
  identity: {
    ...ANY,
    packetsPerSecondMax: 20_000,
    publishesPerSecondMax: 20_000,
    // Half of a gigabit link.
    bytesPerSecondMax: 64 * 1024 * 1024,
    deliveriesPerMinuteMax: 6_000_000,
    connectionsMax: 9_000,
    sessionsMax: 500_000,
    // Some 150 MB, of which a single session may have 10,000.
    subscriptionsMax: 250_000,
    ...HALF_OF_RETAINED,
    // An eighth of a budget of 2 GiB; and never more than half of the limit for its tenant's queues.
    queuedBytesMax: 256 * 1024 * 1024,
  },
  tenant: { ...ANY_OF_TENANT, connectionsMax: 16_200, sessionsMax: 900_000, subscriptionsMax: 1_000_000 },
  broker: ANY_RATE,
};

/**
 * Of the gateway door, which is billed by use. One identity has a fifth of the stage's frames (500 a second), and
 *   cannot
 * trip the breaker (100,000 messages a minute) alone: 6,000 frames, as many replies, and in its first minute twice
 * 30,000 deliveries. Each rate, used up all day, costs some $5 to $45 by the price book.
 *
 * A tenant, and all together, stay below the breaker, which stops all clients for some twenty minutes: ten seconds'
 * worth may come at once, and each environment lets a little through by itself.
 */
export const GATEWAY_QUOTAS: QuotaScopes = {
  identity: {
    ...ANY,
    // A client waits for each reply, some 25 to 50 ms: two to five clients that are busy all the time.
    framesPerSecondMax: 100,
    // Ten packed into each frame.
    publishesPerSecondMax: 1_000,
    // Ten full frames, 256 write units where all of it is kept for clients that are away.
    bytesPerSecondMax: 256 * 1024,
    // 6,000 write units, as a subscription takes two.
    writesPerMinuteMax: 3_000,
    deliveriesPerMinuteMax: 30_000,
    // Ten thousand that are idle cost some $5 a day.
    connectionsMax: 10_000,
    sessionsMax: 50_000,
    ...HALF_OF_RETAINED,
  },
  // Nine tenths of `sessionsMax`.
  tenant: { ...ANY_OF_TENANT, messagesPerMinuteMax: 60_000, connectionsMax: 900_000, sessionsMax: 900_000 },
  broker: { ...ANY_RATE, messagesPerMinuteMax: 70_000 },
};

/** @returns the defaults, replaced by the given values */
export function withQuotas(defaults: QuotaScopes, given: GivenQuotaScopes = {}): QuotaScopes {
  return {
    identity: { ...defaults.identity, ...given.identity },
    tenant: { ...defaults.tenant, ...given.tenant },
    broker: { ...defaults.broker, ...given.broker },
  };
}

export const QUOTA_NAMES = Object.keys(ANY) as readonly (keyof Quotas)[];

/**
 * The exceptions of one identity, as a token, a users file or a hook names them.
 *
 * @returns a sentence if the value is not an object of names of quotas with whole numbers from 0 up
 */
export function parseQuotas(value: unknown): Partial<Quotas> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'Quotas have to be an object, as {"publishesPerSecondMax": 10}.';
  }
  for (const [name, quota] of Object.entries(value)) {
    if (!isQuotaName(name)) return `There is no quota "${name}": there are ${QUOTA_NAMES.join(', ')}.`;
    if (!Number.isSafeInteger(quota) || quota < 0)
      return `"${name}" has to be a whole number from 0 up; 0 stands for any number.`;
  }
  return value;
}

/** The quotas of the tenant of an identity. */
export function tenantQuotasOf(
  { tenant }: QuotaScopes,
  { plan }: { readonly plan?: TenantPlan | undefined },
): TenantQuotas {
  return plan === undefined ? tenant : { ...tenant, ...plan };
}

function isQuotaName(name: string): name is keyof Quotas {
  return QUOTA_NAMES.includes(name as keyof Quotas);
}

/** A quota as an operator is told of it. */
export interface QuotaInForce {
  readonly scope: keyof QuotaScopes;
  readonly name: keyof Quotas;
  readonly max: number;
  /** Held now, or charged in the last minute. Null: it is not counted here. */
  readonly used: number | null;
}

/** Amounts that holders use; those that are not known are absent. */
export type UsedQuotas = {
  readonly [Scope in keyof QuotaScopes]?: { readonly [Name in keyof Quotas]?: number | undefined };
};

/** The quotas that bound something for a tenant with this plan, its own first. */
export function quotasInForce(
  scopes: QuotaScopes,
  plan: TenantPlan | undefined,
  used: UsedQuotas,
): readonly QuotaInForce[] {
  const bounds = {
    tenant: tenantQuotasOf(scopes, { plan }),
    identity: scopes.identity,
    broker: scopes.broker,
  };
  return (['tenant', 'identity', 'broker'] as const).flatMap((scope) =>
    (Object.entries(bounds[scope]) as [keyof Quotas, number][])
      .filter(([, max]) => max > 0)
      .map(([name, max]) => ({ scope, name, max, used: used[scope]?.[name] ?? null })),
  );
}
