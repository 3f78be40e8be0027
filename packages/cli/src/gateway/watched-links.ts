import type { Connection, ConnectionId, LinkState } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import { MemoryLinks } from '@apus/store-memory';

/** How late an end of an identity may be noticed. */
const LOOK_MS = 250;

export interface LinksWatch {
  /** CONNECT has been accepted, or the connection has changed. */
  connected(connectionId: ConnectionId): void;
  /** The connection's identity has expired. */
  expired(connectionId: ConnectionId, connection: Connection): void;
}

interface Expiring {
  readonly atMs: number;
  readonly connection: Connection;
}

/** The links of the gateway door. One timer looks for identities that have expired, as at the node door [SEC-EXPIRY-6]. */
export class WatchedLinks extends MemoryLinks {
  readonly #scheduler: Scheduler;
  readonly #watch: LinksWatch;
  readonly #expiring = new Map<ConnectionId, Expiring>();
  #cancel: () => void = () => {};

  constructor(scheduler: Scheduler, watch: LinksWatch) {
    super(scheduler);
    this.#scheduler = scheduler;
    this.#watch = watch;
  }

  start(): void {
    this.#cancel = this.#scheduler.after(LOOK_MS, () => {
      this.start();
      const nowMs = this.#scheduler.now();
      for (const [connectionId, { atMs, connection }] of this.#expiring) {
        if (atMs > nowMs) continue;
        this.#expiring.delete(connectionId);
        this.#watch.expired(connectionId, connection);
      }
    });
  }

  stop(): void {
    this.#cancel();
  }

  override save(connectionId: ConnectionId, state: LinkState): boolean {
    const isSaved = super.save(connectionId, state);
    if (!isSaved || state.phase !== 'connected') return isSaved;
    this.#watch.connected(connectionId);
    const { connection } = state;
    const { expiresAtMs: atMs } = connection.identity;
    if (atMs === undefined) this.#expiring.delete(connectionId);
    else this.#expiring.set(connectionId, { atMs, connection });
    return true;
  }

  override end(connectionId: ConnectionId): LinkState | undefined {
    this.#expiring.delete(connectionId);
    return super.end(connectionId);
  }

  override move(from: ConnectionId, to: ConnectionId): LinkState | undefined {
    this.#expiring.delete(from);
    return super.move(from, to);
  }
}
