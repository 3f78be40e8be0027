import { BANS_MAX, type Ban, type BanKind, type BanName, isBanOn } from '../model/bans.ts';
import type { Clock } from '../model/clock.ts';
import type { Bannable, Identity } from '../model/identity.ts';
import type { Bans } from '../ports/bans.ts';

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

  all(): Ban[] {
    this.#dropEnded();
    return Object.values(this.#bans).flatMap((bans) => [...bans.values()].flat());
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
    for (const bans of Object.values(this.#bans)) bans.clear();
    this.#size = 0;
    for (const ban of bans) this.add(ban);
  }

  banOn(identity: Bannable, clientId: string, host: string | undefined): Ban | undefined {
    // Asked for each packet, while the list is nearly always empty.
    if (this.#size === 0) return undefined;
    const { tenant, name, tokenId } = identity;
    const byName = this.#find('username', name, tenant);
    return (
      this.#find('clientid', clientId, tenant) ??
      (byName !== undefined && isBanOn(byName, identity, clientId) ? byName : undefined) ??
      (tokenId === undefined ? undefined : this.#find('token', tokenId, tenant)) ??
      this.#find('tenant', tenant, tenant) ??
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
    for (const kind of Object.values(this.#bans))
      for (const bans of kind.values()) for (const ban of bans) if (this.#hasEnded(ban)) this.remove(ban);
  }
}

/**
 * The ban of a caller without a client identifier: in a handshake and over HTTP. Its identity is not known yet where
 * its credential is not checked yet [SEC-BAN-1].
 */
export function banOnCaller(
  bans: Pick<Bans, 'banOn' | 'banOnHost'>,
  identity: Identity | undefined,
  host: string | undefined,
): Ban | undefined {
  return identity === undefined ? bans.banOnHost(host) : bans.banOn(identity, '', host);
}
