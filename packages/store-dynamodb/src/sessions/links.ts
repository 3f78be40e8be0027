import {
  type ConnectionId,
  type KeptPackets,
  type LinkState,
  type LinkStore,
  LOST_BYTES_MAX,
  LOST_PACKETS_MAX,
} from '@apus/broker';
import { LINK_SECONDS_MAX, LINK_TOMBSTONE_SECONDS } from '../limits.ts';
import type { EventCache } from '../table/event-cache.ts';
import { linkKey } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { bytes, fromJson, type Item, number, text, textOf, toJson, VERSION } from '../table/values.ts';

/*
 * The item of a connection. `d` its state, `a` when CONNECT was accepted (before that: when it was saved), `n` tenant
 * and client identifier after that; `e` nonce of the process that ended it, `ea` when; `mv` the connection that its
 * session has moved to, `rs` 1 if its client had lost it before; `kp` the packets that are kept for the client, `kn` a
 * nonce for each call that brought some, `kb` their bytes, `km` 1 if more came.
 */

const NOT_ENDED = 'attribute_not_exists(e)';

/** The connection has ended, and its session has not moved: its client may resume it. */
const AWAITED = 'attribute_exists(e) AND attribute_not_exists(mv)';

/** The states of network connections: one item for each, replaced whole. */
export class DynamoLinks implements LinkStore {
  readonly #table: Table;
  readonly #event: EventCache;

  constructor(table: Table, event: EventCache) {
    this.#table = table;
    this.#event = event;
  }

  async load(connectionId: ConnectionId): Promise<LinkState | undefined> {
    const key = linkKey(connectionId);
    const item = this.#event.hasLink(connectionId)
      ? this.#event.takeLink(connectionId)
      : await this.#table.get(key);
    return stateOf(item);
  }

  /**
   *     CONNECT's handler          $disconnect's handler
   *     load: nothing
   *                                end: tombstone
   *     save: fails, so the handler undoes what CONNECT began
   */
  async save(connectionId: ConnectionId, state: LinkState): Promise<boolean> {
    const { ok } = await this.#table.put(this.#itemOf(connectionId, state), { condition: NOT_ENDED });
    return ok;
  }

  async adopt(connectionId: ConnectionId, state: LinkState): Promise<boolean> {
    const isNotConnected = 'attribute_not_exists(n)';
    const condition = `${NOT_ENDED} AND ${isNotConnected}`;
    const { ok, old } = await this.#table.put(this.#itemOf(connectionId, state), { condition });
    return ok || (old !== undefined && old.e === undefined);
  }

  /** The state stays until the tombstone is deleted: a handler that repeats the move finds it. */
  async move(from: ConnectionId, to: ConnectionId): Promise<LinkState | undefined> {
    const isConnected = 'attribute_exists(n)';
    const { ok, old } = await this.#table.update(
      linkKey(from),
      'SET e = :end, ea = :now, mv = :to, v = :v, t = :t',
      {
        condition: `(${isConnected} AND ${NOT_ENDED}) OR mv = :to`,
        values: { ...this.#endValues(), ':to': text(to) },
        returnsOld: true,
      },
    );
    return ok ? storedState(old) : undefined;
  }

  async end(connectionId: ConnectionId): Promise<LinkState | undefined> {
    const values = this.#endValues();
    const { ok, old } = await this.#table.update(
      linkKey(connectionId),
      // The state stays until the tombstone is deleted: a repeated end, after a lost answer, finds it again.
      'SET e = :end, ea = :now, v = :v, t = :t',
      {
        condition: NOT_ENDED,
        values,
        returnsOld: true,
      },
    );
    if (ok || textOf(old, 'e') === values[':end'].S) return storedState(old);
    return stateOf(old);
  }

  /**
   *     publisher                          handler of the resume
   *     post: 410
   *                                        resume: the tombstone names the new connection, and is read
   *     keep: fails, and the packet follows
   */
  async keep(connectionId: ConnectionId, packets: readonly Uint8Array[]): Promise<LinkState | undefined> {
    const length = packets.reduce((sum, packet) => sum + packet.length, 0);
    const mayFit = packets.length > 0 && packets.length <= LOST_PACKETS_MAX && length <= LOST_BYTES_MAX;
    const found = mayFit ? await this.#append(connectionId, packets, length) : 'full';
    return found === 'full' ? await this.#noteMissed(connectionId) : found;
  }

  async #append(
    connectionId: ConnectionId,
    packets: readonly Uint8Array[],
    length: number,
  ): Promise<LinkState | 'full' | undefined> {
    const nonce = this.#table.settings.randomId();
    const isNew = '(attribute_not_exists(kn) OR NOT contains(kn, :nonce))';
    const hasRoom = '(attribute_not_exists(kp) OR (size(kp) <= :packetsBefore AND kb <= :bytesBefore))';
    const { ok, old } = await this.#table.update(
      linkKey(connectionId),
      'SET kp = list_append(if_not_exists(kp, :none), :packets) ADD kn :nonces, kb :bytes',
      {
        condition: [AWAITED, isNew, hasRoom].join(' AND '),
        values: {
          ':none': { L: [] },
          ':packets': { L: packets.map(bytes) },
          ':nonce': text(nonce),
          ':nonces': { SS: [nonce] },
          ':bytes': number(length),
          ':packetsBefore': number(LOST_PACKETS_MAX - packets.length),
          ':bytesBefore': number(LOST_BYTES_MAX - length),
        },
        returnsOld: true,
      },
    );
    // An earlier attempt, whose answer was lost, may have written it.
    if (ok || old?.kn?.SS?.includes(nonce) === true) return undefined;
    if (old?.e === undefined || old.mv !== undefined) return stateOf(old);
    return old.km === undefined ? 'full' : undefined;
  }

  async #noteMissed(connectionId: ConnectionId): Promise<LinkState | undefined> {
    const { ok, old } = await this.#table.update(linkKey(connectionId), 'SET km = :one', {
      condition: AWAITED,
      values: { ':one': number(1) },
      returnsOld: true,
    });
    return ok ? undefined : stateOf(old);
  }

  async resume(from: ConnectionId, to: ConnectionId): Promise<KeptPackets | undefined> {
    const { ok, old } = await this.#table.update(linkKey(from), 'SET mv = :to, rs = :one', {
      condition: 'attribute_exists(n) AND attribute_exists(e) AND (attribute_not_exists(mv) OR mv = :to)',
      values: { ':to': text(to), ':one': number(1) },
      returnsOld: true,
    });
    if (!ok) return undefined;
    const packets = (old?.kp?.L ?? []).flatMap(({ B }) => B ?? []);
    return { packets, hasMissed: old?.km !== undefined };
  }

  #itemOf(connectionId: ConnectionId, state: LinkState): Item {
    return {
      ...marshalled(linkKey(connectionId)),
      ...beginningOf(state, this.#table.settings.clock.now()),
      v: number(VERSION),
      t: number(this.#table.nowSeconds() + LINK_SECONDS_MAX),
      d: text(toJson(withPlainSession(state))),
    };
  }

  #endValues() {
    const { clock, randomId } = this.#table.settings;
    return {
      ':end': text(randomId()),
      ':now': number(clock.now()),
      ':v': number(VERSION),
      ':t': number(this.#table.nowSeconds() + LINK_TOMBSTONE_SECONDS),
    };
  }
}

/** The fields that the sweep needs without the state. */
function beginningOf(state: LinkState, nowMs: number): Item {
  if (state.phase !== 'connected') return { a: number(nowMs) };
  const { session, connectedAtMs } = state.connection;
  return { a: number(connectedAtMs), n: text(JSON.stringify([session.tenant, session.clientId])) };
}

function stateOf(item: Item | undefined): LinkState | undefined {
  if (item?.e === undefined) return storedState(item);
  const movedTo = textOf(item, 'mv');
  const before = storedState(item);
  return {
    phase: 'closed',
    ...(before !== undefined && { before }),
    ...(movedTo !== undefined && { movedTo }),
    ...(item.rs !== undefined && { isResumed: true }),
    ...(item.km !== undefined && { hasMissed: true }),
  };
}

function storedState(item: Item | undefined): LinkState | undefined {
  const json = textOf(item, 'd');
  return json === undefined ? undefined : (fromJson(json) as LinkState);
}

/** Stores the plain fields of the session: its ref may be an object of a store. */
function withPlainSession(state: LinkState): LinkState {
  if (state.phase !== 'connected') return state;
  const { key, tenant, clientId, incarnation, attachment } = state.connection.session;
  const session = { key, tenant, clientId, incarnation, attachment };
  return { ...state, connection: { ...state.connection, session } };
}
