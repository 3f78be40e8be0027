/** Limits on rates. A used-up rate recovers with time. */
export interface RateQuotas {
  /** MQTT packets a second; a SUBSCRIBE or UNSUBSCRIBE counts once for each filter in it. At the node door. */
  readonly packetsPerSecondMax: number;
  /** Frames a second. At the gateway door: a deployment pays for each, and a node decodes and answers each by itself. */
  readonly framesPerSecondMax: number;
  /** PUBLISH packets a second. */
  readonly publishesPerSecondMax: number;
  /** Bytes of MQTT packets a second, from clients. */
  readonly bytesPerSecondMax: number;
  /**
   * Writes a minute: one for each filter of a SUBSCRIBE or UNSUBSCRIBE, and for each kilobyte begun of a message that
   * is to be retained. Beside these, five read units for each: of retained messages and of the history of streams. At the
   * gateway door, which pays for each.
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

/** Limits on things that a holder has at a time. */
export interface HoldingQuotas {
  /** Connections at a time. */
  readonly connectionsMax: number;
  /** Sessions, connected or not. */
  readonly sessionsMax: number;
  /** Subscriptions of all its sessions; a filter counts as `subscriptionWeight` says. At the node door. */
  readonly subscriptionsMax: number;
}

/**
 * Limits on messages that are kept for one identity, or for a tenant whose plan sets them. Every other tenant has the
 * broker's limits (`retainedBytesMax`, and at the node door `tenantQueueBytesMax`).
 */
export interface KeptQuotas {
  /** Retained messages whose last publisher is this identity. */
  readonly retainedMessagesMax: number;
  /** Bytes of these, as `retainedBytes` counts them. */
  readonly retainedBytesMax: number;
  /**
   * Memory of messages in the queues of its sessions, waiting and inflight; a message in several queues counts once.
   * At the node door only: in a deployment a queue holds bytes that `bytesPerSecondMax` has limited, and counting them
   * for a tenant would cost as much as storing them (docs/tenants.md).
   */
  readonly queuedBytesMax: number;
  /**
   * Messages of `$delayed/…` that wait to be published. At the node door only: a deployment charges each for its hops
   * (`writesPerMinuteMax`), and its queue has room for any number.
   */
  readonly delayedMessagesMax: number;
  /** Bytes of these, as `retainedBytes` counts them. */
  readonly delayedBytesMax: number;
}

/** Limits on all clients of one tenant together. 0: no limit. */
export type TenantQuotas = RateQuotas & HoldingQuotas;

/** Limits of a tenant that differ from those of every tenant. */
export type TenantPlan = Partial<TenantQuotas & KeptQuotas>;

/** Limits of one identity. 0: no limit. */
export type Quotas = TenantQuotas & KeptQuotas;

/**
 * Quotas by holder. A client that takes too much meets its own quota first, then its tenant's, then the one of all
 * clients.
 */
export interface QuotaScopes {
  /** For each identity. An anonymous client is counted by its address. `Identity.quotas` has the exceptions. */
  readonly identity: Quotas;
  readonly tenant: TenantQuotas;
  /**
   * For all clients together. Things that are held have limits instead: `sessionsMax`, and at the node door
   * `connectionsMax`.
   */
  readonly broker: RateQuotas;
}

/** Some of the quotas; the others keep their defaults. */
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

const ANY: Quotas = {
  ...ANY_OF_TENANT,
  ...{ retainedMessagesMax: 0, retainedBytesMax: 0, queuedBytesMax: 0 },
  ...{ delayedMessagesMax: 0, delayedBytesMax: 0 },
};

export const NO_QUOTAS: QuotaScopes = { identity: ANY, tenant: ANY_OF_TENANT, broker: ANY_RATE };

/** Half of `DEFAULT_LIMITS`, which limit a tenant: one identity leaves room for the others of its tenant. */
const HALF_OF_RETAINED = { retainedMessagesMax: 500_000, retainedBytesMax: 32 * 1024 * 1024 } as const;

/**
 * Defaults of the node door. One processor takes some 80,000 publishes a second, and makes some 300,000 deliveries
 * (loadtest/results/benchmarks.md): an identity may use a quarter of the former and a third of the latter. It handles
 * some 2,500 frames a second at a node's gateway door, of which an identity may use two fifths. A tenant, and
 * all clients together, may use the whole machine: clients take turns, and the machine is not billed by use.
 *
 * Connections and sessions are not shared by turns: an identity, and so the anonymous clients behind one address, may
 * hold half of what the door has (`connectionsMax`, `sessionsMax`), and a tenant nine tenths. `quotasForPlaces` keeps
 * these shares where the door has fewer.
 */
export const NODE_QUOTAS: QuotaScopes = {
  identity: {
    ...ANY,
    packetsPerSecondMax: 20_000,
    framesPerSecondMax: 1_000,
    publishesPerSecondMax: 20_000,
    // Half of a gigabit link.
    bytesPerSecondMax: 64 * 1024 * 1024,
    deliveriesPerMinuteMax: 6_000_000,
    connectionsMax: 9_000,
    sessionsMax: 500_000,
    // Some 150 MB; one session may have 10,000.
    subscriptionsMax: 250_000,
    ...HALF_OF_RETAINED,
    // An eighth of a budget of 2 GiB, and never more than half of the limit on its tenant's queues.
    queuedBytesMax: 256 * 1024 * 1024,
    // A tenth, and an eighth, of what a tenant has. They may wait for 49 days.
    delayedMessagesMax: 10_000,
    delayedBytesMax: 4 * 1024 * 1024,
  },
  tenant: { ...ANY_OF_TENANT, connectionsMax: 16_200, sessionsMax: 900_000, subscriptionsMax: 1_000_000 },
  broker: ANY_RATE,
};

/** Parts of a door's connections and sessions that one holder may have. */
const SHARES = { identity: 1 / 2, tenant: 9 / 10 } as const;

/** The defaults of a node with this room: its door and its sessions, of which no holder may have all [SEC-PLACE-2]. */
export function quotasForPlaces(room: {
  readonly connectionsMax: number;
  readonly sessionsMax: number;
}): QuotaScopes {
  const shareOf = <S extends keyof typeof SHARES>(scope: S): QuotaScopes[S] => {
    const preset = NODE_QUOTAS[scope];
    const share = (name: keyof typeof room) => Math.min(preset[name], Math.ceil(room[name] * SHARES[scope]));
    return { ...preset, connectionsMax: share('connectionsMax'), sessionsMax: share('sessionsMax') };
  };
  return { ...NODE_QUOTAS, identity: shareOf('identity'), tenant: shareOf('tenant') };
}

/**
 * Defaults of the gateway door, which is billed by use. An identity may send a fifth of the stage's frames (500 a
 * second), and cannot trip the breaker (100,000 messages a minute) alone: 6,000 frames, as many replies, and in its
 * first minute twice 30,000 deliveries. Each rate, used up all day, costs some $5 to $45 by the price book.
 *
 * A tenant, and all clients together, stay below the breaker, which stops all clients for some twenty minutes: ten
 * seconds' worth may come at once, and each environment lets a little through by itself.
 */
export const GATEWAY_QUOTAS: QuotaScopes = {
  identity: {
    ...ANY,
    // A client waits for each reply, some 25 to 50 ms: this is two to five clients that are busy all the time.
    framesPerSecondMax: 100,
    // Ten packed into each frame.
    publishesPerSecondMax: 1_000,
    // Ten full frames: 256 write units if all of it is stored for clients that are away.
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

/** The quotas for the tenant of an identity. */
export function tenantQuotasOf(
  { tenant }: Pick<QuotaScopes, 'tenant'>,
  { plan }: { readonly plan?: TenantPlan | undefined },
): TenantQuotas {
  return plan === undefined ? tenant : { ...tenant, ...plan };
}

function isQuotaName(name: string): name is keyof Quotas {
  return QUOTA_NAMES.includes(name as keyof Quotas);
}

/** A quota as operators see it. */
export interface QuotaInForce {
  readonly scope: keyof QuotaScopes;
  readonly name: keyof Quotas;
  readonly max: number;
  /** Held now, or charged in the last minute. Null: not counted here. */
  readonly used: number | null;
}

/** How much holders use; an absent amount is not known. */
export type UsedQuotas = {
  readonly [Scope in keyof QuotaScopes]?: { readonly [Name in keyof Quotas]?: number | undefined };
};

/** The quotas that limit a tenant with this plan; those of the plan first. */
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
