import type { Clock, ConnectionId, LinkState, LinkStore } from '@apus/broker';

/** Longer than any packet of an ended connection may still be on its way to a handler, or its client may resume. */
const TOMBSTONE_MS = 5 * 60_000;

interface Tombstone {
  readonly endedAtMs: number;
  /** Undefined where none was saved. */
  readonly before: LinkState | undefined;
  readonly movedTo: ConnectionId | undefined;
}

function closedBy({ before, movedTo }: Tombstone): LinkState {
  return {
    phase: 'closed',
    ...(before !== undefined && { before: structuredClone(before) }),
    ...(movedTo !== undefined && { movedTo }),
  };
}

/** Link states in memory, copied in and out as a store elsewhere would. */
export class MemoryLinks implements LinkStore {
  readonly #clock: Clock;
  readonly #states = new Map<ConnectionId, LinkState>();
  /** In the order of their end. */
  readonly #tombstones = new Map<ConnectionId, Tombstone>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  load(connectionId: ConnectionId): LinkState | undefined {
    const tombstone = this.#tombstones.get(connectionId);
    if (tombstone !== undefined) return closedBy(tombstone);
    const state = this.#states.get(connectionId);
    return state && structuredClone(state);
  }

  save(connectionId: ConnectionId, state: LinkState): boolean {
    if (this.#tombstones.has(connectionId)) return false;
    this.#states.set(connectionId, structuredClone(withPlainSession(state)));
    return true;
  }

  end(connectionId: ConnectionId): LinkState | undefined {
    const tombstone = this.#tombstones.get(connectionId);
    if (tombstone !== undefined) return tombstone.movedTo === undefined ? undefined : closedBy(tombstone);
    return this.#bury(connectionId, undefined);
  }

  move(from: ConnectionId, to: ConnectionId): LinkState | undefined {
    const tombstone = this.#tombstones.get(from);
    if (tombstone === undefined) return this.#bury(from, to);
    return tombstone.movedTo === to ? structuredClone(tombstone.before) : undefined;
  }

  adopt(connectionId: ConnectionId, state: LinkState): boolean {
    if (this.#states.get(connectionId)?.phase === 'connected') return true;
    return this.save(connectionId, state);
  }

  #bury(connectionId: ConnectionId, to: ConnectionId | undefined): LinkState | undefined {
    const state = this.#states.get(connectionId);
    this.#states.delete(connectionId);
    const movedTo = state === undefined ? undefined : to;
    this.#tombstones.set(connectionId, { endedAtMs: this.#clock.now(), before: state, movedTo });
    this.#forgetOldTombstones();
    return state;
  }

  #forgetOldTombstones(): void {
    const oldestMs = this.#clock.now() - TOMBSTONE_MS;
    for (const [connectionId, { endedAtMs }] of this.#tombstones) {
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
