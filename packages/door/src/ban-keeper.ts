import { setImmediate } from 'node:timers/promises';
import {
  type Ban,
  type BanList,
  type BanName,
  type BanStore,
  type Broker,
  type Clock,
  expulsionOf,
  isBanOn,
  isSuspension,
  type Link,
  type Log,
  type SessionRecord,
  Turn,
} from '@apus/broker';
import type { ListedStores } from './api/sources.ts';
import { CloseCode } from './links/close-code.ts';

interface ClosableLink {
  closeWith(code: number, reason?: string): void;
}

export interface BanKeeperOptions {
  /** The broker's list. */
  readonly list: BanList;
  readonly store: BanStore;
  readonly stores: Pick<ListedStores, 'sessions'>;
  readonly broker: Broker;
  /** Links of the door. */
  readonly links: { all(): Iterable<Pick<Link, 'state' | 'peer'> & ClosableLink> };
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Tells the other processes that share the store. Resolves when they have ended the banned clients.
   *
   * @default there is none
   */
  readonly tellOthers?: (() => Promise<void>) | undefined;
  /** Messages that wait to be published: those of banned clients are deleted. */
  readonly delays: { free(ban: Ban): Promise<void> };
}

/** Bans of a process: in force in the broker's list, kept in the store, and enforced on connected clients [SEC-BAN-4]. */
export class BanKeeper {
  readonly #options: BanKeeperOptions;

  constructor(options: BanKeeperOptions) {
    this.#options = options;
  }

  all(): readonly Ban[] {
    return this.#options.list.all();
  }

  get(name: BanName): Ban | undefined {
    return this.#options.list.get(name);
  }

  /**
   * When this resolves, the ban is stored and the banned clients are disconnected. False when the list is full.
   */
  async ban(ban: Ban): Promise<boolean> {
    const { list, store, log, tellOthers, delays } = this.#options;
    if (!list.add(ban)) return false;
    await this.#forgetEnded();
    if (!(await store.put(ban))) {
      list.remove(ban);
      return false;
    }
    log.info('banned', { ...ban });
    await Promise.all([this.#enforce(ban), tellOthers?.()]);
    // The ban is in force: where the store fails, the messages stay until they are due.
    await delays.free(ban).catch((error: unknown) => {
      log.error('delayed-messages-failed', { error: String(error) });
    });
    return true;
  }

  /** False when there was no such ban. */
  async unban(name: BanName): Promise<boolean> {
    const { list, store, log, tellOthers } = this.#options;
    if (!list.remove(name)) return false;
    await store.remove(name);
    log.info('unbanned', { ...name });
    await tellOthers?.();
    return true;
  }

  /**
   * Refuses and disconnects the clients of a suspended tenant, and returns how many there were. The register of
   * tenants stores the suspension, and not the store of bans. Undefined when the list is full.
   */
  async suspend(suspension: Ban): Promise<number | undefined> {
    const { list, log } = this.#options;
    if (!list.add(suspension)) return undefined;
    log.info('tenant-suspended', { tenant: suspension.tenant });
    return await this.#enforce(suspension);
  }

  resume(suspension: Ban): void {
    const { list, log } = this.#options;
    if (list.remove(suspension)) log.info('tenant-resumed', { tenant: suspension.tenant });
  }

  /** Another process has changed the list. Resolves when newly banned clients have been ended. */
  async changed(bans: readonly Ban[]): Promise<void> {
    const { list } = this.#options;
    const before = new Set(list.all().map((ban) => JSON.stringify(ban)));
    list.replace([...list.all().filter(isSuspension), ...bans]);
    for (const ban of list.all()) if (!before.has(JSON.stringify(ban))) await this.#enforce(ban);
  }

  /** At the start: a crash may have come between a ban and the end of the banned sessions. */
  async enforceAll(): Promise<void> {
    await this.#forgetEnded();
    for (const ban of this.all()) await this.#enforce(ban);
  }

  /** Deletes bans that are over from the store; the list drops them by itself. */
  async #forgetEnded(): Promise<void> {
    const { list, store } = this.#options;
    for (const ban of [...store.all()]) if (list.get(ban) === undefined) await store.remove(ban);
  }

  /** Returns how many clients were ended. */
  async #enforce(ban: Ban): Promise<number> {
    const { stores, links } = this.#options;
    // The broker's list knows the addresses of connections at both doors.
    const banned = [...stores.sessions.all()].filter(({ session, identity, attachment }) =>
      isBanOn(ban, identity, session.clientId, attachment?.holder),
    );
    let turn = new Turn(this.#options.clock);
    for (const record of banned) {
      await this.#expel(ban, record);
      if (!turn.isOver) continue;
      // [SEC-WORK-6] Meanwhile each packet of a client that is left ends its connection [SEC-BAN-1].
      await setImmediate();
      turn = new Turn(this.#options.clock);
    }
    for (const link of links.all()) {
      const isUnconnected = link.state.phase !== 'connected';
      if (isUnconnected && ban.as === 'peerhost' && link.peer.host === ban.who)
        link.closeWith(CloseCode.PolicyViolation, 'This address has been banned');
    }
    return banned.length;
  }

  /** A client at the gateway door that cannot be told does not stop the others. */
  async #expel(ban: Ban, { session: { tenant, clientId }, identity: meant }: SessionRecord): Promise<void> {
    const { broker, log } = this.#options;
    try {
      await broker.expel(tenant, clientId, expulsionOf(ban), ({ identity }) => identity.name === meant.name);
    } catch (error) {
      log.error('expel-failed', { clientId, error: String(error) });
    }
  }
}
