import type { Clock, ConnectionId, LinkState, LinkStore } from '@apus/broker';

/** Longer than any packet of an ended connection may still be on its way to a handler. */
const TOMBSTONE_MS = 60_000;

/** Link states in memory, copied in and out as a store elsewhere would. */
export class MemoryLinks implements LinkStore {
  readonly #clock: Clock;
  readonly #states = new Map<ConnectionId, LinkState>();
  /** In the order of their end. */
  readonly #tombstones = new Map<ConnectionId, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  load(connectionId: ConnectionId): LinkState | undefined {
    if (this.#tombstones.has(connectionId)) return { phase: 'closed' };
    const state = this.#states.get(connectionId);
    return state && structuredClone(state);
  }

  save(connectionId: ConnectionId, state: LinkState): boolean {
    if (this.#tombstones.has(connectionId)) return false;
    this.#states.set(connectionId, structuredClone(withPlainSession(state)));
    return true;
  }

  end(connectionId: ConnectionId): LinkState | undefined {
    const state = this.#states.get(connectionId);
    this.#states.delete(connectionId);
    if (!this.#tombstones.has(connectionId)) this.#tombstones.set(connectionId, this.#clock.now());
    this.#forgetOldTombstones();
    return state;
  }

  #forgetOldTombstones(): void {
    const oldestMs = this.#clock.now() - TOMBSTONE_MS;
    for (const [connectionId, endedAtMs] of this.#tombstones) {
      if (endedAtMs > oldestMs) return;
      this.#tombstones.delete(connectionId);
    }
  }
}

/** The session's ref may be an object of a store; its plain fields are what is kept. */
function withPlainSession(state: LinkState): LinkState {
  if (state.phase !== 'connected') return state;
  const { key, tenant, clientId, incarnation, attachment } = state.connection.session;
  const session = { key, tenant, clientId, incarnation, attachment };
  return { ...state, connection: { ...state.connection, session } };
}
