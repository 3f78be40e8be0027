import { ReasonCode } from '@apus/mqtt';
import type { Bans, Clock, Identity } from './ports/index.ts';

/** The kinds of a ban: EMQX's words, and `token` for the `jti` of a token or the name of an API key. */
export const BAN_KINDS = ['clientid', 'username', 'peerhost', 'token'] as const;

/** A suspended tenant is a ban of all its clients: `who` is the tenant's name. The register of tenants makes it. */
const TENANT_KIND = 'tenant';

const ALL_KINDS = [...BAN_KINDS, TENANT_KIND] as const;

export type BanKind = (typeof ALL_KINDS)[number];

/**
 * Bans at a time. The list is for single clients; an authenticator is the place to refuse many. In the cloud each
 * process reads the whole list, one item, every half minute.
 */
export const BANS_MAX = 1_000;

/** Characters of `who`: as many as a client identifier may have. */
export const BAN_WHO_LENGTH_MAX = 1_024;

/** Characters of `by`, and of `reason`: they are for people. */
export const BAN_TEXT_LENGTH_MAX = 200;

/** One entry of the list. It survives JSON. */
export interface Ban {
  readonly as: BanKind;
  /** A client identifier, the name of an identity, an IP address, or the id of a token. Not empty. */
  readonly who: string;
  /** The tenant of the banned client; empty for an address, which is banned for every tenant. */
  readonly tenant: string;
  /** For people: the operator who made the ban. */
  readonly by: string;
  /** For people. The client is not told. */
  readonly reason: string;
  /** In ms since the epoch. */
  readonly atMs: number;
  /** When it ends, in ms since the epoch. @default never */
  readonly untilMs?: number | undefined;
  /**
   * For bans of a name: refuses only credentials that were issued before, in ms since the epoch, or that do not say
   * when.
   * @default all
   */
  readonly issuedBeforeMs?: number | undefined;
}

/** Which entry of the list. */
export type BanName = Pick<Ban, 'as' | 'who' | 'tenant'>;

/** How the session of a banned client ends. */
export interface Expulsion {
  /** For DISCONNECT. */
  readonly reasonCode: number;
  readonly reason: string;
  /** The session ends with its subscriptions and messages. False: it stays as long as its client asked for. */
  readonly endsSession: boolean;
  readonly publishesWill: boolean;
}

/** The operator ends a connection. The client may come back. */
export const KICK: Expulsion = {
  reasonCode: ReasonCode.AdministrativeAction,
  reason: 'An administrator has ended this connection',
  endsSession: false,
  publishesWill: true,
};

/** A suspended tenant as a ban for the list. [SEC-TENANT-6] */
export function suspensionOf(tenant: string, nowMs: number, reason = ''): Ban {
  return { as: TENANT_KIND, who: tenant, tenant, by: 'operator', reason, atMs: nowMs };
}

/** The end of a session of a tenant that the operator removes. */
export const TENANT_REMOVED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: 'this tenant is not known here any more',
  endsSession: true,
  publishesWill: false,
};

/** Whether the ban stands for a suspended tenant. Lists of banned clients leave it out. */
export function isSuspension({ as }: Pick<Ban, 'as'>): boolean {
  return as === TENANT_KIND;
}

/** Whether the ban revokes credentials: the same client may come with a newer one. */
export function isRevocation({ as, issuedBeforeMs }: Ban): boolean {
  return as === 'token' || issuedBeforeMs !== undefined;
}

/** The reason code for CONNACK. */
export function refusalCodeOf(ban: Ban): number {
  return isRevocation(ban) || isSuspension(ban) ? ReasonCode.NotAuthorized : ReasonCode.Banned;
}

export function sentenceOf(ban: Ban): string {
  if (isSuspension(ban)) return 'this tenant is suspended';
  return isRevocation(ban) ? 'this credential has been revoked' : 'this client has been banned';
}

/**
 * How the sessions of banned clients end. DISCONNECT has no 0x8A Banned (section 3.14.2.1). The session of a client
 * whose address is banned stays: the client may come from another address.
 */
export function expulsionOf(ban: Ban): Expulsion {
  return {
    reasonCode:
      isRevocation(ban) || isSuspension(ban) ? ReasonCode.NotAuthorized : ReasonCode.AdministrativeAction,
    reason: sentenceOf(ban),
    endsSession: ban.as !== 'peerhost' && !isSuspension(ban),
    publishesWill: false,
  };
}

/** Whether a ban names this client. The caller checks whether the ban has ended. */
export function isBanOn(
  { as, who, tenant, issuedBeforeMs }: Ban,
  identity: Identity,
  clientId: string,
  host?: string,
): boolean {
  if (as === 'peerhost') return who === host;
  if (tenant !== identity.tenant) return false;
  if (as === TENANT_KIND) return true;
  if (as === 'clientid') return who === clientId;
  if (as === 'token') return who === identity.tokenId;
  return who === identity.name && (issuedBeforeMs ?? Infinity) > (identity.issuedAtMs ?? 0);
}

/** The list of bans in memory. */
export class BanList implements Bans {
  readonly #clock: Clock;
  readonly #bans: Readonly<Record<BanKind, Map<string, Ban[]>>> = {
    clientid: new Map(),
    username: new Map(),
    peerhost: new Map(),
    token: new Map(),
    tenant: new Map(),
  };
  #size = 0;

  constructor(clock: Clock, bans: Iterable<Ban> = []) {
    this.#clock = clock;
    this.replace(bans);
  }

  /** The bans that have not ended. */
  all(): Ban[] {
    this.#dropEnded();
    return ALL_KINDS.flatMap((as) => [...this.#bans[as].values()].flat());
  }

  get({ as, who, tenant }: BanName): Ban | undefined {
    return this.#find(as, who, tenant);
  }

  /** Adds a ban, or replaces the one of the same name. False when the list is full. */
  add(ban: Ban): boolean {
    this.remove(ban);
    if (this.#size >= BANS_MAX) this.#dropEnded();
    if (this.#size >= BANS_MAX) return false;
    const bans = this.#bans[ban.as];
    bans.set(ban.who, [...(bans.get(ban.who) ?? []), ban]);
    this.#size += 1;
    return true;
  }

  /** False when there was no such ban. */
  remove({ as, who, tenant }: BanName): boolean {
    const before = this.#bans[as].get(who) ?? [];
    const left = before.filter((ban) => ban.tenant !== tenant);
    if (left.length > 0) this.#bans[as].set(who, left);
    else this.#bans[as].delete(who);
    this.#size -= before.length - left.length;
    return left.length < before.length;
  }

  replace(bans: Iterable<Ban>): void {
    for (const as of ALL_KINDS) this.#bans[as].clear();
    this.#size = 0;
    for (const ban of bans) this.add(ban);
  }

  banOn(identity: Identity, clientId: string, host: string | undefined): Ban | undefined {
    // Asked for each packet, while the list is nearly always empty.
    if (this.#size === 0) return undefined;
    const { tenant, name, tokenId } = identity;
    const byName = this.#find('username', name, tenant);
    return (
      this.#find('clientid', clientId, tenant) ??
      (byName !== undefined && isBanOn(byName, identity, clientId) ? byName : undefined) ??
      (tokenId === undefined ? undefined : this.#find('token', tokenId, tenant)) ??
      this.#find(TENANT_KIND, tenant, tenant) ??
      this.banOnHost(host)
    );
  }

  /** Sessions hold names and tokens, but not the address. */
  holderOf(_identity: Identity, host: string | undefined): string | undefined {
    return host;
  }

  banOnHost(host: string | undefined): Ban | undefined {
    return host === undefined ? undefined : this.#find('peerhost', host, '');
  }

  #find(as: BanKind, who: string, tenant: string): Ban | undefined {
    const ban = this.#bans[as].get(who)?.find((each) => each.tenant === tenant);
    return ban !== undefined && this.#hasEnded(ban) ? undefined : ban;
  }

  #hasEnded({ untilMs }: Ban): boolean {
    return untilMs !== undefined && untilMs <= this.#clock.now();
  }

  #dropEnded(): void {
    for (const as of ALL_KINDS)
      for (const bans of this.#bans[as].values())
        for (const ban of bans) if (this.#hasEnded(ban)) this.remove(ban);
  }
}
