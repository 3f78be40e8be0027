import type {
  ConnectionId,
  OpenedSession,
  OpenSession,
  SessionRecord,
  SessionRef,
  SessionStore,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import { sessionItemKey } from './keys.ts';
import { TTL_SLACK_SECONDS } from './limits.ts';
import { openSession } from './open-session.ts';
import type { SampledCount } from './sampled-count.ts';
import { continuesUntilMs, FOREVER_MS, NONE, recordOf, willOf } from './session-item.ts';
import type { Table } from './table.ts';
import { type Item, number, text, textOf } from './values.ts';

/** The sessions of all tenants are counted together, as the port does. */
const ALL_TENANTS = '';

/** Connections whose will is known to be settled: asking for it once more needs no write. */
const WILLS_REMEMBERED_MAX = 1_000;

/** Sessions and who owns them: one item each, one conditional write for each decision. */
export class DynamoSessions implements SessionStore {
  readonly #table: Table;
  readonly #count: SampledCount;
  readonly #withoutWill = new Set<string>();

  constructor(table: Table, count: SampledCount) {
    this.#table = table;
    this.#count = count;
  }

  async open(request: OpenSession): Promise<OpenedSession> {
    const opened = await openSession(this.#table, request);
    if (opened.previous === undefined) await this.#count.add(ALL_TENANTS, 1);
    return opened;
  }

  async get(tenant: string, clientId: string): Promise<SessionRecord | undefined> {
    const item = await this.#table.get(sessionItemKey(tenant, clientId));
    return item && recordOf(item, tenant, clientId);
  }

  /**
   *     lost(A)                       CONNECT(B)
   *                                   open: connection := B
   *     detach: fails, B owns it
   */
  async detach(
    session: SessionRef,
    connectionId: ConnectionId,
    expirySeconds: number,
    nowMs: number,
  ): Promise<SessionRecord | undefined> {
    const { tenant, clientId, incarnation } = session;
    const isThisIncarnation = 'i = :incarnation';
    const isOwner = 'c = :connection';
    const untilMs = continuesUntilMs(expirySeconds, nowMs);
    const expires = untilMs !== FOREVER_MS;
    const { ok, old, isRetry } = await this.#table.update(
      sessionItemKey(tenant, clientId),
      `SET z = :now, x = :expiry, u = :until${expires ? ', t = :ttl' : ''} REMOVE c`,
      {
        condition: `${isThisIncarnation} AND ${isOwner}`,
        values: {
          ':incarnation': text(incarnation),
          ':connection': text(connectionId),
          ':now': number(nowMs),
          ':expiry': number(expirySeconds),
          ':until': number(untilMs),
          ...(expires && { ':ttl': number(ttlSeconds(expirySeconds, nowMs)) }),
        },
        returnsOld: true,
      },
    );
    if (old === undefined || !(ok || (isRetry && isDetachedBy(old, session, connectionId)))) return undefined;
    const detached: Item = { ...old, z: number(nowMs), x: number(expirySeconds) };
    const record = recordOf(detached, tenant, clientId);
    if (record?.will === undefined) this.#rememberNoWill(session, connectionId);
    return record;
  }

  /**
   *     will timer                    DISCONNECT
   *     takeWill: will := none
   *                                   takeWill: fails, there is none
   */
  async takeWill(session: SessionRef, connectionId: ConnectionId): Promise<Will | undefined> {
    if (this.#withoutWill.has(willName(session, connectionId))) return undefined;
    const isThisIncarnation = 'i = :incarnation';
    const isBrought = 'l = :connection';
    const isThere = 'w <> :none';
    const nonce = this.#table.settings.randomId();
    const { ok, old } = await this.#table.update(
      sessionItemKey(session.tenant, session.clientId),
      // `tw` keeps what `tn` took: a retry whose first answer was lost finds it there.
      'SET tw = w, tn = :nonce, w = :none',
      {
        condition: `${isThisIncarnation} AND ${isBrought} AND ${isThere}`,
        values: {
          ':incarnation': text(session.incarnation),
          ':connection': text(connectionId),
          ':nonce': text(nonce),
          ':none': text(NONE),
        },
        returnsOld: true,
      },
    );
    this.#rememberNoWill(session, connectionId);
    if (ok) return willOf(textOf(old, 'w'));
    return textOf(old, 'tn') === nonce ? willOf(textOf(old, 'tw')) : undefined;
  }

  /**
   *     session-expiry timer          CONNECT(B)
   *                                   open: connection := B
   *     remove: fails, it is attached (or, gone again, B was the last)
   */
  async remove(session: SessionRef, lastConnectionId?: ConnectionId): Promise<boolean> {
    const isThisIncarnation = 'i = :incarnation';
    const isOffline = 'attribute_not_exists(c)';
    const isLast = lastConnectionId === undefined ? '' : ' AND l = :last';
    const { ok, old, isRetry } = await this.#table.delete(sessionItemKey(session.tenant, session.clientId), {
      condition: `${isThisIncarnation} AND ${isOffline}${isLast}`,
      values: {
        ':incarnation': text(session.incarnation),
        ...(lastConnectionId !== undefined && { ':last': text(lastConnectionId) }),
      },
    });
    const isRemoved = ok || (isRetry && old === undefined);
    if (isRemoved) await this.#count.add(ALL_TENANTS, -1);
    return isRemoved;
  }

  async count(): Promise<number> {
    return await this.#count.read(ALL_TENANTS);
  }

  /** A connection brings its will when it opens, or never: once there is none, there will be none. */
  #rememberNoWill(session: SessionRef, connectionId: ConnectionId): void {
    if (this.#withoutWill.size >= WILLS_REMEMBERED_MAX) this.#withoutWill.clear();
    this.#withoutWill.add(willName(session, connectionId));
  }
}

function willName({ key, incarnation }: SessionRef, connectionId: ConnectionId): string {
  return `${key}\0${incarnation}\0${connectionId}`;
}

function isDetachedBy(item: Item, { incarnation }: SessionRef, connectionId: ConnectionId): boolean {
  return textOf(item, 'i') === incarnation && item.c === undefined && textOf(item, 'l') === connectionId;
}

function ttlSeconds(expirySeconds: number, nowMs: number): number {
  return Math.ceil(nowMs / 1_000) + expirySeconds + TTL_SLACK_SECONDS;
}
