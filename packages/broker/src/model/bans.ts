import { ReasonCode } from '@apus/mqtt';
import type { Bannable } from './identity.ts';

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

/**
 * Whether the messages that the client has left for later end with the ban [SEC-POOL-2]. The client of a revoked
 * credential may come with another one, and a suspended tenant may be resumed.
 */
export function endsDelayed(ban: Ban): boolean {
  return !isRevocation(ban) && !isSuspension(ban);
}

/** The reason code for CONNACK. */
export function refusalCodeOf(ban: Ban): number {
  return isRevocation(ban) || isSuspension(ban) ? ReasonCode.NotAuthorized : ReasonCode.Banned;
}

/** The reason code for DISCONNECT, which has no 0x8A Banned (section 3.14.2.1). */
export function expulsionCodeOf(ban: Ban): number {
  return isRevocation(ban) || isSuspension(ban) ? ReasonCode.NotAuthorized : ReasonCode.AdministrativeAction;
}

export function sentenceOf(ban: Ban): string {
  if (isSuspension(ban)) return 'this tenant is suspended';
  return isRevocation(ban) ? 'this credential has been revoked' : 'this client has been banned';
}

/**
 * How the sessions of banned clients end. The session of a client whose address is banned stays: the client may come
 * from another address.
 */
export function expulsionOf(ban: Ban): Expulsion {
  return {
    reasonCode: expulsionCodeOf(ban),
    reason: sentenceOf(ban),
    endsSession: ban.as !== 'peerhost' && !isSuspension(ban),
    publishesWill: false,
  };
}

/** Whether a ban names this client. The caller checks whether the ban has ended. */
export function isBanOn(
  { as, who, tenant, issuedBeforeMs }: Ban,
  identity: Bannable,
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
