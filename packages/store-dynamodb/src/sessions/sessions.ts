import type {
  Attachment,
  ConnectionId,
  DetachSession,
  EndSession,
  Identity,
  OpenedSession,
  OpenSession,
  SessionEnd,
  SessionMove,
  SessionRecord,
  SessionRef,
  SessionStore,
} from '@apus/broker';
import { TTL_SLACK_SECONDS } from '../limits.ts';
import type { Records } from '../queue/records.ts';
import {
  changesOfMove,
  changesOfOpen,
  endOfConnection,
  endOfSession,
  type HeldChange,
} from '../quotas/held-change.ts';
import { sessionItemKey } from '../table/keys.ts';
import type { SampledCount } from '../table/sampled-count.ts';
import type { Table, Written } from '../table/table.ts';
import { type Item, number, text, textOf } from '../table/values.ts';
import { openSession } from './open-session.ts';
import {
  connectionJson,
  continuesUntilMs,
  FOREVER_MS,
  holderOfItem,
  NONE,
  recordOf,
} from './session-item.ts';
import { SessionSnapshot } from './session-ref.ts';
import { Wills } from './wills.ts';

/** Sessions of all tenants are counted together, as the port counts them. */
const ALL_TENANTS = '';

const HAS_NOTHING_BEGUN = 'attribute_not_exists(wm)';
const OWES_NOTHING = '(attribute_not_exists(ow) OR size(ow) = :zero)';
const IS_IN_NO_ROOM = 'attribute_not_exists(rm)';
const WITHOUT_WILL = ', w = :none';

/** The acknowledgements of an event, which are not written yet. */
interface Gathered {
  commit(): Promise<void>;
}

/** Sessions and who owns them: one item each, one conditional write for each decision. */
export class DynamoSessions implements SessionStore {
  readonly #table: Table;
  readonly #count: SampledCount;
  readonly #records: Records;
  readonly #wills: Wills;
  readonly #acknowledgements: Gathered;

  /**
   * @param acknowledgements of the event: the record takes them only from its connection, so they are written before
   * it ends
   */
  constructor(table: Table, count: SampledCount, records: Records, acknowledgements: Gathered) {
    this.#acknowledgements = acknowledgements;
    this.#table = table;
    this.#records = records;
    this.#count = count;
    this.#wills = new Wills(table);
  }

  async open(request: OpenSession): Promise<OpenedSession | 'owned-by-another'> {
    const opened = await openSession(this.#table, request);
    if (opened === 'owned-by-another') return opened;
    if (opened.previous === undefined) await this.#count.add(ALL_TENANTS, 1);
    await this.#tell(...changesOfOpen(request, opened));
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
   *
   * If the session goes on, its record is updated too: a publisher reads nothing else.
   */
  async detach(request: DetachSession): Promise<SessionRecord | undefined> {
    const { session, connectionId, expirySeconds, will } = request;
    const { tenant, clientId, incarnation } = session;
    // Acknowledgements of a frame that ends with DISCONNECT.
    await this.#acknowledgements.commit();
    const isThisIncarnation = 'i = :incarnation';
    const isOwner = 'c = :connection';
    const changes = detachedFields(request);
    const removed = will === 'discarded' ? ['c', 'wd', 'wr'] : ['c'];
    const set = Object.keys(changes).map((name) => `${name} = :${name}`);
    const { ok, old, isRetry } = await this.#table.update(
      sessionItemKey(tenant, clientId),
      `SET ${set.join(', ')} REMOVE ${removed.join(', ')}`,
      {
        condition: `${isThisIncarnation} AND ${isOwner}`,
        values: {
          ':incarnation': text(incarnation),
          ':connection': text(connectionId),
          ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [`:${name}`, value])),
        },
        returnsOld: true,
      },
    );
    if (expirySeconds > 0) await this.#records.lost(session, connectionId);
    if (old === undefined || !(ok || (isRetry && isDetachedBy(old, session, connectionId)))) return undefined;
    const record = recordOf({ ...old, ...changes }, tenant, clientId);
    if (record !== undefined) await this.#tell(endOfConnection(connectionId, record.identity, clientId));
    return record;
  }

  /**
   *     DISCONNECT(A)                 CONNECT(B)
   *                                   open: connection := B
   *     end: fails, B owns it
   *
   * A will of the connection has not been begun: that happens only after `detach` has given it a time.
   */
  async end({ session, connectionId }: EndSession): Promise<SessionEnd> {
    const { tenant, clientId, incarnation } = session;
    // Acknowledgements of a frame that ends with DISCONNECT.
    await this.#acknowledgements.commit();
    const isThisIncarnation = 'i = :incarnation';
    const isOwner = 'c = :connection';
    const { ok, old, isRetry } = await this.#table.delete(sessionItemKey(tenant, clientId), {
      condition: [isThisIncarnation, isOwner, HAS_NOTHING_BEGUN, OWES_NOTHING, IS_IN_NO_ROOM].join(' AND '),
      values: {
        ':incarnation': text(incarnation),
        ':connection': text(connectionId),
        ':zero': number(0),
      },
      returnsOld: true,
    });
    const isDone = ok || (isRetry && old === undefined);
    if (!isDone) {
      const isOwned = textOf(old, 'i') === incarnation && textOf(old, 'c') === connectionId;
      return isOwned ? 'owes-more' : 'not-owned';
    }
    const identity = old && holderOfItem(old).identity;
    if (identity !== undefined) await this.#tell(endOfConnection(connectionId, identity, clientId));
    await this.#removed(session, old);
    return 'ended';
  }

  async renew(
    session: SessionRef,
    attachment: Attachment,
    identity: Identity,
    move?: SessionMove,
  ): Promise<SessionRef | undefined> {
    const { tenant, clientId, incarnation } = session;
    const { connectionId } = attachment;
    const isThisIncarnation = 'i = :incarnation';
    const isOwner = 'c = :connection';
    const { ok, old } = await this.#table.update(
      sessionItemKey(tenant, clientId),
      `SET r = :attachment${move === undefined ? '' : ', c = :to, l = :to, a = :now'}`,
      {
        condition: `${isThisIncarnation} AND ${isOwner}`,
        values: {
          ':incarnation': text(incarnation),
          ':connection': text(move?.from ?? connectionId),
          ':attachment': text(connectionJson({ attachment, identity })),
          ...(move !== undefined && { ':to': text(connectionId), ':now': number(move.nowMs) }),
        },
        returnsOld: true,
      },
    );
    const isMovedAlready = textOf(old, 'i') === incarnation && textOf(old, 'c') === connectionId;
    if (!ok && !(move !== undefined && isMovedAlready)) return undefined;
    // A session that keeps nothing has a record only if it was sent QoS 2, or messages of a shared subscription.
    const hasRecord = !attachment.keepsNothing || (await this.#records.find(session)) !== undefined;
    if (hasRecord) await this.#records.renew(session, attachment, move?.from);
    if (ok && move !== undefined)
      await this.#tell(...changesOfMove(move.from, connectionId, identity, clientId));
    return new SessionSnapshot(session, attachment);
  }

  async noteReplays(
    { tenant, clientId, incarnation }: SessionRef,
    connectionId: ConnectionId,
    topicFilters: readonly string[],
  ): Promise<void> {
    const isOver = topicFilters.length === 0;
    await this.#table.update(sessionItemKey(tenant, clientId), isOver ? 'REMOVE rt' : 'SET rt = :filters', {
      condition: 'i = :incarnation AND l = :last',
      values: {
        ':incarnation': text(incarnation),
        ':last': text(connectionId),
        ...(!isOver && { ':filters': text(JSON.stringify(topicFilters)) }),
      },
    });
  }

  beginWill: SessionStore['beginWill'] = (...call) => this.#wills.begin(...call);
  doneWill: SessionStore['doneWill'] = (...call) => this.#wills.done(...call);
  discardWill: SessionStore['discardWill'] = (...call) => this.#wills.discard(...call);

  /**
   *     session-expiry timer          CONNECT(B)
   *                                   open: connection := B
   *     remove: fails, it is attached (or, gone again, B was the last)
   *
   * An item with wills that are begun or owed, or with rooms that have not been left, stays without an incarnation
   * until TTL deletes it. So does one whose rooms were read (`hasRooms`): an attempt to delete it would be a write in
   * vain.
   */
  async remove(session: SessionRef, lastConnectionId?: ConnectionId, hasRooms = false): Promise<boolean> {
    const key = sessionItemKey(session.tenant, session.clientId);
    const isThisIncarnation = 'i = :incarnation';
    const isOffline = 'attribute_not_exists(c)';
    const isLast = lastConnectionId === undefined ? [] : ['l = :last'];
    const mayGo = [isThisIncarnation, isOffline, ...isLast];
    const values = {
      ':incarnation': text(session.incarnation),
      ...(lastConnectionId !== undefined && { ':last': text(lastConnectionId) }),
    };
    const nothingBegun = [...mayGo, HAS_NOTHING_BEGUN];
    const keep = async (condition: readonly string[], change: string) =>
      await this.#table.update(key, `SET i = :none, u = :zero, t = :ttl${change}`, {
        condition: condition.join(' AND '),
        values: {
          ...values,
          ':none': text(NONE),
          ':zero': number(0),
          ':ttl': number(this.#table.nowSeconds() + TTL_SLACK_SECONDS),
        },
        returnsOld: true,
      });
    // An earlier attempt, whose answer was lost, has removed it, unless its client is back and the session goes on.
    const isDone = (kept: Written) =>
      kept.ok || (kept.isRetry && textOf(kept.old, 'i') !== session.incarnation);
    if (hasRooms) {
      const kept = await keep(nothingBegun, WITHOUT_WILL);
      if (isDone(kept)) return await this.#removed(session, kept.old);
    }
    const { ok, old, isRetry } = await this.#table.delete(key, {
      condition: [...nothingBegun, OWES_NOTHING, IS_IN_NO_ROOM].join(' AND '),
      values: { ...values, ':zero': number(0) },
      returnsOld: true,
    });
    if (ok || (isRetry && old === undefined)) return await this.#removed(session, old);
    if (textOf(old, 'i') !== session.incarnation || old?.c !== undefined) return false;
    const isBegun = old?.wm !== undefined;
    const kept = isBegun ? await keep(mayGo, '') : await keep(nothingBegun, WITHOUT_WILL);
    return isDone(kept) && (await this.#removed(session, old));
  }

  async count(): Promise<number> {
    return await this.#count.read(ALL_TENANTS);
  }

  /** Corrects the number, which is sampled, and from which TTL's deletions are not subtracted. */
  async recount(count: number): Promise<void> {
    await this.#count.set(ALL_TENANTS, count);
  }

  /** `old`: the item as it was; undefined if an answer was lost. */
  async #removed({ clientId, incarnation }: SessionRef, old: Item | undefined): Promise<true> {
    await this.#count.add(ALL_TENANTS, -1);
    const identity = old && holderOfItem(old).identity;
    if (identity !== undefined) await this.#tell(endOfSession(incarnation, identity, clientId));
    return true;
  }

  async #tell(...changes: readonly HeldChange[]): Promise<void> {
    const { onHeld } = this.#table.settings;
    if (onHeld === undefined) return;
    for (const change of changes) await onHeld(change);
  }
}

/** The fields that `detach` writes. */
function detachedFields({ expirySeconds, resumableUntilMs, nowMs, will }: DetachSession): Item {
  const untilMs = continuesUntilMs(expirySeconds, nowMs);
  return {
    z: number(nowMs),
    x: number(expirySeconds),
    u: number(untilMs),
    ...(untilMs !== FOREVER_MS && { t: number(ttlSeconds(expirySeconds, nowMs)) }),
    ...(resumableUntilMs !== undefined && { rs: number(resumableUntilMs) }),
    ...(will === 'discarded' && { w: text(NONE) }),
    ...(typeof will === 'object' && { wd: number(will.atMs), wr: number(will.isWithdrawnByReturn ? 1 : 0) }),
  };
}

function isDetachedBy(item: Item, { incarnation }: SessionRef, connectionId: ConnectionId): boolean {
  return textOf(item, 'i') === incarnation && item.c === undefined && textOf(item, 'l') === connectionId;
}

function ttlSeconds(expirySeconds: number, nowMs: number): number {
  return Math.ceil(nowMs / 1_000) + expirySeconds + TTL_SLACK_SECONDS;
}
