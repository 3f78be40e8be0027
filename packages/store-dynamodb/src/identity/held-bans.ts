import { type Ban, type BanList, type Identity, isBanOn, isSuspension, type SessionRef } from '@apus/broker';
import { fingerprintOfBan, type Holder, readHolder } from './holder.ts';

const HELD_KINDS = ['username', 'token', 'peerhost'] as const;

/** The bans of a list, indexed by what is known of a connection at a delivery (`Attachment.holder`). */
export class HeldBans {
  readonly #list: BanList;
  readonly #bans = new Map<string, Ban>();

  /** Made anew when the list changes. The list tells which of these bans have ended since. */
  constructor(list: BanList) {
    this.#list = list;
    for (const ban of list.all())
      if (ban.as !== 'clientid' && !isSuspension(ban))
        this.#bans.set(keyOf(ban.as, ban.tenant, fingerprintOfBan(ban)), ban);
  }

  /** [SEC-BAN-2] */
  keepsOut({ tenant, clientId, attachment }: SessionRef): boolean {
    if (attachment === undefined) return false;
    if (this.#list.get({ as: 'clientid', who: clientId, tenant }) !== undefined) return true;
    if (this.#list.get({ as: 'tenant', who: tenant, tenant }) !== undefined) return true;
    if (attachment.holder === undefined || this.#bans.size === 0) return false;
    const holder = readHolder(attachment.holder);
    return HELD_KINDS.some((as) => this.#banOn(as, tenant, holder) !== undefined);
  }

  banOnHost(holder: string | undefined): Ban | undefined {
    return holder === undefined ? undefined : this.#banOn('peerhost', '', readHolder(holder));
  }

  #banOn(as: (typeof HELD_KINDS)[number], tenant: string, holder: Holder): Ban | undefined {
    if (holder[as] === '') return undefined;
    const ban = this.#bans.get(keyOf(as, tenant, holder[as]));
    if (ban === undefined || this.#list.get(ban) === undefined) return undefined;
    return (ban.issuedBeforeMs ?? Number.POSITIVE_INFINITY) > holder.issuedAtMs ? ban : undefined;
  }
}

/** Whether a ban names the client of a session; `holder`: the holder of its connection, if it has one. */
export function isBanOnSession(
  ban: Ban,
  identity: Identity,
  clientId: string,
  holder: string | undefined,
): boolean {
  if (ban.as !== 'peerhost') return isBanOn(ban, identity, clientId);
  return holder !== undefined && readHolder(holder).peerhost === fingerprintOfBan(ban);
}

/** An address is banned for every tenant. */
function keyOf(as: Ban['as'], tenant: string, fingerprint: string): string {
  return `${as}\0${as === 'peerhost' ? '' : tenant}\0${fingerprint}`;
}
