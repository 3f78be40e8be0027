import type { ConnectionId, LinkState, LinkStore } from '@apus/broker';
import type { EventCache } from '../table/event-cache.ts';
import { linkKey } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { fromJson, type Item, number, text, textOf, toJson, VERSION } from '../table/values.ts';

/** The gateway closes a connection at two hours; an item that is left after three is debris. */
const LINK_SECONDS_MAX = 3 * 60 * 60;

/** Longer than any packet of an ended connection may still be on its way to a handler. */
const TOMBSTONE_SECONDS = 60 * 60;

/*
 * A connection's item. `d` its state, `a` when CONNECT was accepted (before that: when it was saved), `n` tenant and
 * client identifier once it was; `e` nonce of the process that ended it, `ea` when; `mv` the connection that its session
 * has moved to.
 */

const NOT_ENDED = 'attribute_not_exists(e)';

/** Where each network connection stands: one item, replaced whole. */
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
   *     save: fails, so the handler undoes what CONNECT began: no ghost
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

  /** The state stays until the tombstone goes: a handler that repeats the move of one that has died finds it. */
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
      // The state stays until the tombstone goes: a repeated end, after its answer was lost, finds it again.
      'SET e = :end, ea = :now, v = :v, t = :t',
      {
        condition: NOT_ENDED,
        values,
        returnsOld: true,
      },
    );
    if (ok || textOf(old, 'e') === values[':end'].S) return storedState(old);
    return old?.mv === undefined ? undefined : stateOf(old);
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
      ':t': number(this.#table.nowSeconds() + TOMBSTONE_SECONDS),
    };
  }
}

/** The fields that the sweep needs, without reading the state. */
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
  };
}

function storedState(item: Item | undefined): LinkState | undefined {
  const json = textOf(item, 'd');
  return json === undefined ? undefined : (fromJson(json) as LinkState);
}

/** The session's ref may be an object of a store; its plain fields are what is kept. */
function withPlainSession(state: LinkState): LinkState {
  if (state.phase !== 'connected') return state;
  const { key, tenant, clientId, incarnation, attachment } = state.connection.session;
  const session = { key, tenant, clientId, incarnation, attachment };
  return { ...state, connection: { ...state.connection, session } };
}
