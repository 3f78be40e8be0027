import type { ConnectionId, Identity } from '@apus/broker';
import { incarnationsWithRooms } from '../presence/session-rooms.ts';
import { bytesOfCopy } from '../queue/queue-items.ts';
import type { Records } from '../queue/records.ts';
import { HOLDINGS, type HoldingAccount } from '../quotas/quota-holdings.ts';
import { retainedHolderIn } from '../quotas/retained-holdings.ts';
import { RETAINED_COUNTS } from '../retained/size.ts';
import { holderOfItem, nameOf, owedWillsOf, sessionEndsAtMs } from '../sessions/session-item.ts';
import { batchGet } from '../table/batch.ts';
import {
  type Key,
  linkKey,
  OWNED,
  RETAINED_PARTITIONS,
  recordKey,
  sessionItemKey,
  sweepKey,
} from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { listOf, type SweptList, type SweptShapes, shapesIn } from './swept-lists.ts';

export interface SessionName {
  readonly tenant: string;
  readonly clientId: string;
}

export interface SessionIncarnation extends SessionName {
  readonly incarnation: string;
}

/** A connection as it was read. */
export interface SweptConnection {
  readonly kind: 'connection';
  readonly connectionId: ConnectionId;
  /** When its CONNECT was accepted, in ms since the epoch; before that, when it was saved. */
  readonly beganAtMs: number;
  /** Undefined: it has sent no CONNECT. */
  readonly session: SessionName | undefined;
  /** Undefined: it has not ended. */
  readonly endedAtMs: number | undefined;
}

export interface SweptSession extends SessionName {
  readonly kind: 'session';
  /** Empty: the session was removed, and the item is kept for its wills. */
  readonly incarnation: string;
  /** Undefined: the session is offline. */
  readonly connectionId: ConnectionId | undefined;
  readonly lastConnectionId: ConnectionId;
  readonly attachedAtMs: number;
  /** When it ends if its client stays away. Undefined: it is connected, or never ends. */
  readonly endsAtMs: number | undefined;
  /** When the will of its last connection is due. */
  readonly willDueAtMs: number | undefined;
  readonly owedWillsOf: readonly ConnectionId[];
  /** When its connection ended. Undefined: the connection is there. */
  readonly detachedAtMs: number | undefined;
  /** Incarnations that may make members of rooms present. */
  readonly incarnationsWithRooms: readonly string[];
  /** If it was asked for, and the session was not removed. */
  readonly identity: Identity | undefined;
  /** `Attachment.holder` of its connection, on the same condition. */
  readonly holder: string | undefined;
}

/** The record of a connected session for which messages wait. */
export interface SweptQueue extends SessionIncarnation {
  readonly kind: 'queue';
  readonly connectionId: ConnectionId;
  /** Since when no acknowledgement has moved them. */
  readonly waitsSinceMs: number;
}

/** A retained message. */
export interface SweptRetained {
  readonly kind: 'retained';
  readonly tenant: string;
  /** As `retainedBytes` counts them. */
  readonly bytes: number;
  /** The holder for whom it is retained. Undefined: no client. */
  readonly holder: HoldingAccount | undefined;
}

/** A message that waits for a session. */
export interface SweptWaiting {
  readonly kind: 'waiting';
  readonly tenant: string;
  /** Bytes of its topic, payload and properties. */
  readonly bytes: number;
}

/** One of the numbers of what a tenant has retained. */
export interface SweptRetainedCount {
  readonly kind: 'retained-count';
  readonly tenant: string;
  readonly of: 'messages' | 'bytes';
  readonly count: number;
}

/** The counted holdings of an identity or a tenant. */
export interface SweptHoldings {
  readonly kind: 'holdings';
  readonly account: HoldingAccount;
  /** The quota has refused a client, so the holdings have to be counted. */
  readonly isCountWanted: boolean;
}

export type Swept =
  | SweptConnection
  | SweptSession
  | SweptQueue
  | SweptList
  | SweptShapes
  | SweptRetained
  | SweptWaiting
  | SweptRetainedCount
  | SweptHoldings;

/** The state of a connection's item. */
export type ConnectionStanding = 'there' | 'missing' | { readonly endedAtMs: number };

/** The state of a session's item. */
export interface SessionStanding {
  readonly incarnation: string;
  readonly connectionId: ConnectionId | undefined;
}

export interface SweptPage {
  readonly found: readonly Swept[];
  /** Where the segment goes on. Undefined: at its end. */
  readonly next: SweepPosition | undefined;
}

/** Survives JSON. */
export type SweepPosition = Key;

const SESSION = 'session';
const LINK = 'link';
const RECORD = 'record';

const COUNT = 'count';

/** About 100 bytes of an item: without states, and without wills of connected sessions. */
const SESSIONS_PROJECTION = 'p, s, n, i, c, l, a, q, mv, x, z, wd, ow, ea, t, hw, rm';
const SESSIONS = {
  filter: [
    's IN (:session, :link, :count, :holdings)',
    '(s = :record AND q = :backlog AND attribute_exists(c))',
  ].join(' OR '),
  values: {
    ':session': text(SESSION),
    ':link': text(LINK),
    ':count': text(COUNT),
    ':holdings': text(HOLDINGS),
    ':record': text(RECORD),
    ':backlog': text('B'),
  },
};
/** With attachment and identity: they cost no units, but most of the bytes that are sent. */
const WITH_IDENTITIES = `${SESSIONS_PROJECTION}, r`;

const MESSAGES = {
  filter: 's = :list OR begins_with(p, :retained)',
  projection: 'p, s, x, t, rs, rh',
  values: { ':list': text(OWNED.list), ':retained': text(RETAINED_PARTITIONS) },
};
/** With waiting messages: the scan reads them, and pays for them, in any case. */
const MESSAGES_AND_WAITING = {
  filter: `${MESSAGES.filter} OR begins_with(s, :waiting)`,
  projection: `${MESSAGES.projection}, #by`,
  values: { ...MESSAGES.values, ':waiting': text(OWNED.waiting) },
  names: { '#by': 'by' },
};

/**
 * Scans the two tables for the sweep: segments side by side, a page of 1 MB at a time, eventually consistent, which
 * costs half. A finding may have changed since: the caller reads it again before it acts.
 */
export class DynamoSweepScan {
  readonly #table: Table;
  readonly #records: Records;

  constructor(table: Table, records: Records) {
    this.#table = table;
    this.#records = records;
  }

  /** Connections, sessions, queues that wait, and numbers. */
  async page(
    segment: number,
    segments: number,
    after: SweepPosition | undefined,
    withIdentities = false,
  ): Promise<SweptPage> {
    const { items, next } = await this.#table.scan({
      tableName: this.#table.settings.sessionsTableName,
      segment,
      segments,
      after,
      projection: withIdentities ? WITH_IDENTITIES : SESSIONS_PROJECTION,
      ...SESSIONS,
    });
    return { found: items.flatMap((item) => sweptOf(item) ?? []), next };
  }

  /** Retained messages, and lists of subscriptions. They stand among all other messages. */
  async messagesPage(
    segment: number,
    segments: number,
    after: SweepPosition | undefined,
    withWaiting = false,
    withShapes = false,
  ): Promise<SweptPage> {
    const { tableName } = this.#table.settings;
    const range = { tableName, segment, segments, after };
    const wanted = withWaiting ? MESSAGES_AND_WAITING : MESSAGES;
    const { filter, values } = wanted;
    const { items, next } = await this.#table.scan({
      ...range,
      ...(withShapes ? { filter: `${filter} OR begins_with(s, :list)`, values } : wanted),
    });
    const found = items.flatMap((item) => sweptMessageOf(item) ?? []);
    return { found: withShapes ? [...found, ...items.flatMap((item) => shapesIn(item) ?? [])] : found, next };
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

  /** Read strongly, all at once. Undefined: there is none. */
  async sessions(names: readonly SessionName[]): Promise<readonly (SessionStanding | undefined)[]> {
    const keyOf = ({ tenant, clientId }: SessionName) => sessionItemKey(tenant, clientId);
    const found = await batchGet(this.#table, names.map(keyOf));
    return names.map((name) => {
      const item = found.get(keyOf(name));
      return (
        item && {
          incarnation: textOf(item, 'i') ?? '',
          connectionId: textOf(item, 'c'),
        }
      );
    });
  }

  /** Read strongly, all at once. Undefined: no message waits for the session. */
  async queues(refs: readonly SessionIncarnation[]): Promise<readonly (SweptQueue | undefined)[]> {
    const found = await batchGet(this.#table, refs.map(recordKey));
    return refs.map((ref) => {
      const item = found.get(recordKey(ref));
      return item && queueOf(item);
    });
  }

  /** Tells the record that the connection is over: the session knows it already. */
  async lost(ref: SessionIncarnation, connectionId: ConnectionId): Promise<void> {
    await this.#records.lost(ref, connectionId);
  }

  /** The progress that the sweep has noted last. */
  async recall(): Promise<unknown> {
    const json = textOf(await this.#table.get(sweepKey), 'd');
    return json === undefined ? undefined : JSON.parse(json);
  }

  async note(progress: unknown): Promise<void> {
    const item = { ...marshalled(sweepKey), v: number(VERSION), d: text(JSON.stringify(progress)) };
    await this.#table.put(item);
  }
}

/** Undefined: an item of another kind, or one whose name was too long for its key. */
function sweptOf(item: Item): Swept | undefined {
  const partition = textOf(item, 'p') ?? '';
  // If one table has everything: a topic may be any text.
  if (partition.startsWith(RETAINED_PARTITIONS)) return undefined;
  switch (textOf(item, 's')) {
    case COUNT:
      return retainedCountOf(item, partition);
    case HOLDINGS:
      return holdingsOf(item, partition);
    case SESSION:
      return sessionOf(item);
    case LINK:
      return connectionOf(item);
    case RECORD:
      return queueOf(item);
    default:
      return undefined;
  }
}

function sweptMessageOf(item: Item): Swept | undefined {
  const partition = textOf(item, 'p') ?? '';
  if (partition.startsWith(RETAINED_PARTITIONS)) return retainedOf(item, partition);
  const sort = textOf(item, 's');
  if (sort?.startsWith(OWNED.waiting) === true) return waitingOf(item, partition);
  return sort === OWNED.list ? listOf(item) : undefined;
}

/** The name of a tenant is whole even if the client identifier after it was cut. */
function waitingOf(item: Item, partition: string): SweptWaiting | undefined {
  const [kind, tenant] = partition.split('\0');
  if (kind !== 'I' || tenant === undefined) return undefined;
  return { kind: 'waiting', tenant, bytes: bytesOfCopy(item) };
}

function retainedOf(item: Item, partition: string): SweptRetained | undefined {
  const [, tenant, ...cut] = partition.split('\0');
  // A tombstone, or a tenant whose name is too long for its key.
  if (item.x !== undefined || tenant === undefined || cut.length > 0) return undefined;
  return {
    kind: 'retained',
    tenant,
    bytes: numberOf(item, 'rs') ?? 0,
    holder: retainedHolderIn(tenant, item),
  };
}

function retainedCountOf(item: Item, partition: string): SweptRetainedCount | undefined {
  const [, tenant, name, ...cut] = partition.split('\0');
  const count = numberOf(item, 'n');
  if (tenant === undefined || count === undefined || cut.length > 0) return undefined;
  if (name === RETAINED_COUNTS.messages) return { kind: 'retained-count', tenant, of: 'messages', count };
  if (name === RETAINED_COUNTS.bytes) return { kind: 'retained-count', tenant, of: 'bytes', count };
  return undefined;
}

function holdingsOf(item: Item, partition: string): SweptHoldings | undefined {
  const [, tenant, kind, name, ...cut] = partition.split('\0');
  if (tenant === undefined || kind === undefined || name === undefined || cut.length > 0) return undefined;
  const account = { tenant, kind: kind as HoldingAccount['kind'], name };
  return { kind: 'holdings', account, isCountWanted: item.hw !== undefined };
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
  const attachedAtMs = numberOf(item, 'a');
  if (name === undefined || attachedAtMs === undefined) return undefined;
  return {
    kind: 'session',
    ...name,
    incarnation: textOf(item, 'i') ?? '',
    connectionId: textOf(item, 'c'),
    lastConnectionId: textOf(item, 'l') ?? '',
    attachedAtMs,
    endsAtMs: sessionEndsAtMs(item),
    willDueAtMs: numberOf(item, 'wd'),
    owedWillsOf: Object.keys(owedWillsOf(item) ?? {}),
    detachedAtMs: numberOf(item, 'z') || undefined,
    incarnationsWithRooms: incarnationsWithRooms(item),
    ...holderOfItem(item),
  };
}

function queueOf(item: Item): SweptQueue | undefined {
  const [kind, ...inKey] = textOf(item, 'p')?.split('\0') ?? [];
  const whole = textOf(item, 'n');
  const names = whole === undefined ? inKey : (JSON.parse(whole) as string[]);
  const [tenant, incarnation, clientId] = names;
  const [connectionId, waitsSinceMs] = [textOf(item, 'c'), numberOf(item, 'mv')];
  if (kind !== 'Z' || tenant === undefined || incarnation === undefined || clientId === undefined)
    return undefined;
  if (textOf(item, 'q') !== 'B' || item.z !== undefined) return undefined;
  if (connectionId === undefined || waitsSinceMs === undefined) return undefined;
  return { kind: 'queue', tenant, clientId, incarnation, connectionId, waitsSinceMs };
}
