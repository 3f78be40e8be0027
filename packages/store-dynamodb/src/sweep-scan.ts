import type { ConnectionId } from '@apus/broker';
import { batchGet } from './batch.ts';
import { type Key, linkKey, OWNED, sessionItemKey, sweepKey } from './keys.ts';
import { drainingSinceMs, nameOf, owedWillsOf, sessionEndsAtMs } from './session-item.ts';
import { marshalled, type Table } from './table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from './values.ts';

/** Whose session. */
export interface SessionName {
  readonly tenant: string;
  readonly clientId: string;
}

/** A connection as it was read. */
export interface SweptConnection {
  readonly kind: 'connection';
  readonly connectionId: ConnectionId;
  /** When its CONNECT was accepted, in ms since the epoch; before that, when it was saved. */
  readonly beganAtMs: number;
  /** Undefined while it has sent no CONNECT. */
  readonly session: SessionName | undefined;
  /** Undefined while it is there. */
  readonly endedAtMs: number | undefined;
}

export interface SweptSession extends SessionName {
  readonly kind: 'session';
  /** Empty when it has been removed, and the item is there for its wills. */
  readonly incarnation: string;
  /** Undefined while it is offline. */
  readonly connectionId: ConnectionId | undefined;
  readonly lastConnectionId: ConnectionId;
  /** Undefined in an item of an older layout: nothing is concluded from it. */
  readonly attachedAtMs: number | undefined;
  /** Since when messages wait on its connection and none has moved; undefined where none waits. */
  readonly drainingSinceMs: number | undefined;
  /** When it ends if its client stays away; undefined while it is connected, and if it never ends. */
  readonly endsAtMs: number | undefined;
  /** Of the will that the last connection has left. */
  readonly willDueAtMs: number | undefined;
  readonly owedWillsOf: readonly ConnectionId[];
}

/** A session that holds subscriptions: perhaps one that has ended. */
export interface SweptList extends SessionName {
  readonly kind: 'list';
  readonly incarnation: string;
}

export type Swept = SweptConnection | SweptSession | SweptList;

/** What stands where a connection is asked for. */
export type ConnectionStanding = 'there' | 'missing' | { readonly endedAtMs: number };

/** What stands where a session is asked for. */
export interface SessionStanding {
  readonly incarnation: string;
  readonly connectionId: ConnectionId | undefined;
  readonly drainingSinceMs: number | undefined;
}

export interface SweptPage {
  readonly found: readonly Swept[];
  /** Where the segment goes on; undefined at its end. */
  readonly next: SweepPosition | undefined;
}

/** Survives JSON. */
export type SweepPosition = Key;

const SESSION = 'session';
const LINK = 'link';

const FILTER = 's IN (:session, :link, :list)';
/** Neither states nor wills of those that are there: 100 bytes of an item. */
const PROJECTION = 'p, s, n, i, c, l, a, q, qa, x, z, wd, ow, ea, t';
const VALUES = { ':session': text(SESSION), ':link': text(LINK), ':list': text(OWNED.list) };

/**
 * The table as the sweep goes over it: segments side by side, a page of 1 MB at a time, eventually consistent, which costs
 * half. What it finds may have changed: it is for whoever acts on it to look again.
 */
export class DynamoSweepScan {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async page(segment: number, segments: number, after: SweepPosition | undefined): Promise<SweptPage> {
    const { items, next } = await this.#table.scan({
      segment,
      segments,
      after,
      filter: FILTER,
      projection: PROJECTION,
      values: VALUES,
    });
    return { found: items.flatMap((item) => sweptOf(item) ?? []), next };
  }

  /** Read strongly, all at once. */
  async connections(ids: readonly ConnectionId[]): Promise<readonly ConnectionStanding[]> {
    const found = await batchGet(this.#table, ids.map(linkKey));
    return ids.map((id) => {
      const item = found.get(linkKey(id));
      if (item === undefined) return 'missing';
      const endedAtMs = numberOf(item, 'ea');
      return endedAtMs === undefined ? 'there' : { endedAtMs };
    });
  }

  /** Read strongly, all at once. Undefined where none stands. */
  async sessions(names: readonly SessionName[]): Promise<readonly (SessionStanding | undefined)[]> {
    const keyOf = ({ tenant, clientId }: SessionName) => sessionItemKey(tenant, clientId);
    const found = await batchGet(this.#table, names.map(keyOf));
    return names.map((name) => {
      const item = found.get(keyOf(name));
      return (
        item && {
          incarnation: textOf(item, 'i') ?? '',
          connectionId: textOf(item, 'c'),
          drainingSinceMs: drainingSinceMs(item),
        }
      );
    });
  }

  /** What was noted last: how far the sweep had come. */
  async recall(): Promise<unknown> {
    const json = textOf(await this.#table.get(sweepKey), 'd');
    return json === undefined ? undefined : JSON.parse(json);
  }

  async note(progress: unknown): Promise<void> {
    const item = { ...marshalled(sweepKey), v: number(VERSION), d: text(JSON.stringify(progress)) };
    await this.#table.put(item);
  }
}

/** Undefined for what is of no use: an item of an older layout, or one whose name was too long for its key. */
function sweptOf(item: Item): Swept | undefined {
  switch (textOf(item, 's')) {
    case SESSION:
      return sessionOf(item);
    case LINK:
      return connectionOf(item);
    default:
      return listOf(item);
  }
}

function connectionOf(item: Item): SweptConnection | undefined {
  const [, connectionId] = textOf(item, 'p')?.split('\0') ?? [];
  const beganAtMs = numberOf(item, 'a');
  if (connectionId === undefined || beganAtMs === undefined) return undefined;
  const name = textOf(item, 'n');
  const [tenant = '', clientId = ''] = name === undefined ? [] : (JSON.parse(name) as string[]);
  return {
    kind: 'connection',
    connectionId,
    beganAtMs,
    session: name === undefined ? undefined : { tenant, clientId },
    endedAtMs: numberOf(item, 'ea'),
  };
}

function sessionOf(item: Item): SweptSession | undefined {
  const name = nameOf(item);
  if (name === undefined) return undefined;
  return {
    kind: 'session',
    ...name,
    incarnation: textOf(item, 'i') ?? '',
    connectionId: textOf(item, 'c'),
    lastConnectionId: textOf(item, 'l') ?? '',
    attachedAtMs: numberOf(item, 'a'),
    drainingSinceMs: drainingSinceMs(item),
    endsAtMs: sessionEndsAtMs(item),
    willDueAtMs: numberOf(item, 'wd'),
    owedWillsOf: Object.keys(owedWillsOf(item) ?? {}),
  };
}

/** A list that TTL forgets is of a session that ends with its connection: its entries are ignored from then on. */
function listOf(item: Item): SweptList | undefined {
  const [kind, tenant, incarnation, clientId, ...cut] = textOf(item, 'p')?.split('\0') ?? [];
  if (kind !== 'I' || tenant === undefined || incarnation === undefined || clientId === undefined)
    return undefined;
  return item.t === undefined && cut.length === 0
    ? { kind: 'list', tenant, clientId, incarnation }
    : undefined;
}
