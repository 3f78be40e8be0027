import {
  type Clock,
  type ConnectionId,
  type KeptPackets,
  type LinkState,
  type LinkStore,
  LOST_BYTES_MAX,
  LOST_PACKETS_MAX,
  quotaHolderKey,
  quotaHolderOf,
  steadyNow,
} from '@apus/broker';

/**
 * Longer than a packet of an ended connection can be under way to a handler, and than its client may take to resume.
 */
const TOMBSTONE_MS = 5 * 60_000;

/**
 * States of ended connections that are kept for one identity, and for all clients that were not connected. It is more
 * than an identity may have connections: when all of them are lost, all of them may be resumed.
 */
export const ENDED_STATES_PER_HOLDER_MAX = 10_000;

interface Tombstone {
  readonly endedAtMs: number;
  /** Undefined: none was saved, or it is forgotten. */
  before: LinkState | undefined;
  movedTo: ConnectionId | undefined;
  isResumed: boolean;
  readonly packets: Uint8Array[];
  bytes: number;
  hasMissed: boolean;
}

function closedBy({ before, movedTo, isResumed, hasMissed }: Tombstone): LinkState {
  return {
    phase: 'closed',
    ...(before !== undefined && { before: structuredClone(before) }),
    ...(movedTo !== undefined && { movedTo }),
    ...(isResumed && { isResumed }),
    ...(hasMissed && { hasMissed }),
  };
}

/** States of links in memory. They are copied in and out, as by a store elsewhere. */
export class MemoryLinks implements LinkStore {
  readonly #clock: Clock;
  readonly #states = new Map<ConnectionId, LinkState>();
  /** In the order in which they ended. */
  readonly #tombstones = new Map<ConnectionId, Tombstone>();
  /** Tombstones with a state, by identity, in the same order. */
  readonly #withState = new Map<string, Set<Tombstone>>();

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
    if (tombstone !== undefined) return closedBy(tombstone);
    return this.#bury(connectionId, undefined);
  }

  move(from: ConnectionId, to: ConnectionId): LinkState | undefined {
    const tombstone = this.#tombstones.get(from);
    if (tombstone === undefined) return this.#bury(from, to);
    return tombstone.movedTo === to ? structuredClone(tombstone.before) : undefined;
  }

  keep(connectionId: ConnectionId, packets: readonly Uint8Array[]): LinkState | undefined {
    const tombstone = this.#tombstones.get(connectionId);
    if (tombstone === undefined || tombstone.movedTo !== undefined) return this.load(connectionId);
    const bytes = packets.reduce((sum, { length }) => sum + length, tombstone.bytes);
    const hasRoom = bytes <= LOST_BYTES_MAX && tombstone.packets.length + packets.length <= LOST_PACKETS_MAX;
    if (packets.length === 0 || !hasRoom) tombstone.hasMissed = true;
    else {
      tombstone.packets.push(...packets.map((packet) => packet.slice()));
      tombstone.bytes = bytes;
    }
    return undefined;
  }

  resume(from: ConnectionId, to: ConnectionId): KeptPackets | undefined {
    const tombstone = this.#tombstones.get(from);
    if (tombstone?.before === undefined) return undefined;
    if (tombstone.movedTo !== undefined && tombstone.movedTo !== to) return undefined;
    tombstone.movedTo = to;
    tombstone.isResumed = true;
    return { packets: tombstone.packets, hasMissed: tombstone.hasMissed };
  }

  adopt(connectionId: ConnectionId, state: LinkState): boolean {
    if (this.#states.get(connectionId)?.phase === 'connected') return true;
    return this.save(connectionId, state);
  }

  #bury(connectionId: ConnectionId, to: ConnectionId | undefined): LinkState | undefined {
    const state = this.#states.get(connectionId);
    this.#states.delete(connectionId);
    const movedTo = state === undefined ? undefined : to;
    const tombstone: Tombstone = {
      endedAtMs: steadyNow(this.#clock),
      before: state,
      movedTo,
      isResumed: false,
      packets: [],
      bytes: 0,
      hasMissed: false,
    };
    this.#tombstones.set(connectionId, tombstone);
    if (state !== undefined) this.#keepState(tombstone, holderOf(state));
    this.#forgetOldTombstones();
    return state;
  }

  /** Beyond the limit of an identity its oldest state is forgotten: its client cannot resume it [SEC-GROWTH-6]. */
  #keepState(tombstone: Tombstone, holder: string): void {
    const ofHolder = this.#withState.get(holder) ?? new Set();
    this.#withState.set(holder, ofHolder.add(tombstone));
    const [oldest] = ofHolder;
    if (ofHolder.size > ENDED_STATES_PER_HOLDER_MAX && oldest !== undefined) this.#forgetState(oldest);
  }

  #forgetState(tombstone: Tombstone): void {
    if (tombstone.before === undefined) return;
    const holder = holderOf(tombstone.before);
    const ofHolder = this.#withState.get(holder);
    ofHolder?.delete(tombstone);
    if (ofHolder?.size === 0) this.#withState.delete(holder);
    tombstone.before = undefined;
    tombstone.packets.length = 0;
  }

  #forgetOldTombstones(): void {
    const oldestMs = steadyNow(this.#clock) - TOMBSTONE_MS;
    for (const [connectionId, tombstone] of this.#tombstones) {
      if (tombstone.endedAtMs > oldestMs) return;
      this.#tombstones.delete(connectionId);
      this.#forgetState(tombstone);
    }
  }
}

/** '': the client was not connected. */
function holderOf(state: LinkState): string {
  if (state.phase !== 'connected') return '';
  const { identity, session } = state.connection;
  return quotaHolderKey(quotaHolderOf(identity, session.clientId));
}

/** Stores the plain fields of the session: its ref may be an object of a store. */
function withPlainSession(state: LinkState): LinkState {
  if (state.phase !== 'connected') return state;
  const { key, tenant, clientId, incarnation, attachment } = state.connection.session;
  const session = { key, tenant, clientId, incarnation, attachment };
  return { ...state, connection: { ...state.connection, session } };
}
