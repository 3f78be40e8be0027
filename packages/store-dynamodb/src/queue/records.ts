import type { Attachment, ConnectionId, SessionRef } from '@apus/broker';
import { NOTED_MAX } from '../limits.ts';
import { nameValue, recordOf } from '../sessions/session-item.ts';
import { type Opening, SessionSnapshot } from '../sessions/session-ref.ts';
import { type Incarnation, recordKey, sessionItemKey } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { type Action, transact } from '../table/transaction.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { acknowledgeEntries } from './acknowledge-entries.ts';
import { forgetting } from './completed.ts';
import { NEW_RECORD } from './decide.ts';
import { Forgotten } from './forgotten.ts';
import {
  attachmentFields,
  attachmentOfItem,
  modeField,
  notedAs,
  notedIn,
  recordFields,
  recordOfItem,
} from './record-item.ts';
import type { Acknowledgement, QueueRecord, Removed, StoredRecord } from './types.ts';

/** A session without a record. */
export const NO_RECORD: StoredRecord = {
  record: NEW_RECORD,
  attachment: undefined,
  contents: new Map(),
  removed: { messages: 0, bytes: 0 },
  nonce: undefined,
};

/**
 * The outcome of a write: the record as it was written; or in `failed` the places of those other items of the
 * transaction that already existed.
 */
export type RecordWritten =
  | { readonly ok: true; readonly nonce: string; readonly record: QueueRecord }
  | {
      readonly ok: false;
      readonly failed: ReadonlyMap<number, Item | undefined>;
      /**
       * The answer to an earlier attempt was lost: that attempt may have written the record, and others have written
       * since.
       */
      readonly isInDoubt?: boolean;
    };

const NOT_WRITTEN = { ok: false, failed: new Map() } as const;

/** The outcome of `note`. */
export interface Noted {
  readonly ok: boolean;
  /** The record without the note. Undefined: there is none. */
  readonly before: StoredRecord | undefined;
  /** The answer to an earlier attempt was lost: it may have made the note, and others have written since. */
  readonly isRetry: boolean;
}

/** Reads and writes records. Each write is conditional on the version that was read, or has conditions of its own. */
export class Records {
  readonly #table: Table;
  readonly #forgotten: Forgotten;

  constructor(table: Table) {
    this.#table = table;
    this.#forgotten = new Forgotten(table);
  }

  /** Those of the names whose copies at QoS 2 were placed, and which the record has forgotten. */
  async forgotten(
    session: SessionRef,
    record: QueueRecord,
    names: readonly string[],
  ): Promise<ReadonlySet<string>> {
    return await this.#forgotten.among(session, record, names);
  }

  /**
   * The record, or the one that the session begins with if none has been written. Undefined: the incarnation is over.
   */
  async read(session: SessionRef): Promise<StoredRecord | undefined> {
    const found = await this.find(session);
    if (found !== undefined) return found;
    const present = await this.present(session);
    return present && begunBy(present);
  }

  /** The record that the match has just read with the session; otherwise as `read`. */
  async readOnce(session: SessionRef): Promise<StoredRecord | undefined> {
    const { stored, opening } = session instanceof SessionSnapshot ? session : {};
    if (stored !== undefined) return stored;
    if (opening === undefined) return await this.read(session);
    return (await this.find(session)) ?? begunBy(session);
  }

  /** The record. Undefined: none has been written. */
  async find(session: SessionRef): Promise<StoredRecord | undefined> {
    const item = await this.#table.get(recordKey(session));
    return item && storedRecordOf(item);
  }

  /** The session as its item describes it. Undefined: the incarnation is over. */
  async present({ tenant, clientId, incarnation }: SessionRef): Promise<SessionRef | undefined> {
    const item = await this.#table.get(sessionItemKey(tenant, clientId));
    const current = item && recordOf(item, tenant, clientId)?.session;
    return current?.incarnation === incarnation ? current : undefined;
  }

  /**
   * Writes `after` on condition that the record is still `before`, in one transaction with items that must not exist
   * yet. Without such items the record may forget names of completed copies: see `forgetting`.
   */
  async write(
    session: SessionRef,
    before: StoredRecord,
    after: Omit<StoredRecord, 'nonce'>,
    along: readonly Action[] = [],
  ): Promise<RecordWritten> {
    const nonce = this.#table.settings.randomId();
    const forgot = along.length === 0 ? forgetting(after.record, this.#table.settings.completed) : undefined;
    const record = forgot?.record ?? after.record;
    const others = forgot === undefined ? along : this.#forgotten.items(session, forgot);
    const key = recordKey(session);
    const name = nameValue(key, session.tenant, session.incarnation, session.clientId);
    const item = {
      ...marshalled(key),
      ...(name !== undefined && { n: name }),
      ...this.#fieldsOf({ ...after, record }, nonce),
    };
    // An item that only counts dropped messages has no version.
    const condition =
      before.nonce === undefined || before.nonce === ''
        ? { condition: 'attribute_not_exists(y)' }
        : { condition: 'y = :nonce', values: { ':nonce': text(before.nonce) } };
    if (others.length > 0) {
      const transacted = await transact(this.#table, [...others, { put: item, ...condition }]);
      return transacted.ok ? { ok: true, nonce, record } : { ok: false, failed: transacted.failed };
    }
    const { ok, old, isRetry } = await this.#table.put(item, condition);
    // An earlier attempt, whose answer was lost, has written it. Conditional updates since then have changed the
    // version, but not `yw`.
    if (ok || textOf(old, 'yw') === nonce) return { ok: true, nonce, record };
    return isRetry ? { ...NOT_WRITTEN, isInDoubt: true } : NOT_WRITTEN;
  }

  /**
   * Notes an acknowledgement without reading the record. A handler that reads the record applies the notes
   * (`storedRecordOf`), and the next write of the whole item removes them. Undefined if the record has another
   * connection, or as many notes as it takes. A note that is made twice, after a lost answer, acknowledges once.
   */
  async note(
    session: SessionRef,
    connectionId: ConnectionId,
    acknowledgement: Acknowledgement,
  ): Promise<Noted> {
    const { ok, old, isRetry } = await this.#table.update(
      recordKey(session),
      'SET ak = list_append(if_not_exists(ak, :none), :noted), y = :new, mv = :now, t = :ttl',
      {
        condition: 'c = :connection AND (attribute_not_exists(ak) OR size(ak) < :most)',
        values: {
          ':connection': text(connectionId),
          ':most': number(NOTED_MAX),
          ':none': { L: [] },
          ':noted': { L: [notedAs(acknowledgement)] },
          ':new': text(this.#table.settings.randomId()),
          ':now': this.#now(),
          ':ttl': number(this.#ttl()),
        },
        returnsOld: true,
      },
    );
    return { ok, before: old && storedRecordOf(old), isRetry };
  }

  /**
   * Sets the mode to backlog: publishers append from now on, and the client has to be told. False: the mode is backlog
   * already, or no client is connected.
   */
  async object(session: SessionRef): Promise<boolean> {
    const isConnected = 'attribute_exists(c)';
    const isNotBacklog = 'q <> :backlog';
    const hasNotEnded = 'attribute_not_exists(z)';
    const { ok, isRetry } = await this.#table.update(
      recordKey(session),
      'SET q = :backlog, y = :new, mv = :now REMOVE f, aw',
      {
        condition: [isConnected, isNotBacklog, hasNotEnded].join(' AND '),
        values: {
          ':backlog': modeField('backlog'),
          ':new': text(this.#table.settings.randomId()),
          ':now': this.#now(),
        },
      },
    );
    return ok || isRetry;
  }

  /** The connection is gone: publishers append from now on. */
  async lost(session: Incarnation, connectionId: ConnectionId): Promise<void> {
    await this.#table.update(recordKey(session), 'SET y = :new REMOVE c, ca', {
      condition: 'c = :connection',
      values: { ':connection': text(connectionId), ':new': text(this.#table.settings.randomId()) },
    });
  }

  /**
   * The connection has another identity, or a later expiry; or the session has moved here `from` another connection.
   * The entries stay: the messages that were sent on that connection have arrived. If there is no record, the
   * publisher that writes the first one looks at the session item afterwards.
   */
  async renew(session: SessionRef, attachment: Attachment, from = attachment.connectionId): Promise<void> {
    await this.#table.update(recordKey(session), 'SET y = :new, ca = :attachment, c = :to', {
      condition: 'c = :connection',
      values: {
        ':connection': text(from),
        ':to': text(attachment.connectionId),
        ':new': text(this.#table.settings.randomId()),
        ':attachment': attachmentFields(attachment),
      },
    });
  }

  /**
   * Ends the incarnation: no publisher takes a place from now on, and TTL removes the record. Returns the record as it
   * was.
   */
  async end(session: SessionRef): Promise<StoredRecord | undefined> {
    const { old } = await this.#table.update(
      recordKey(session),
      'SET z = :one, y = :new, v = :version, t = :ttl',
      {
        values: {
          ':one': number(1),
          ':new': text(this.#table.settings.randomId()),
          ':version': number(VERSION),
          ':ttl': number(this.#ttl()),
        },
        returnsOld: true,
      },
    );
    return old && storedRecordOf(old);
  }

  /** Removes all but the mark that the incarnation is over: publishers that are late find it. */
  async clear(session: SessionRef): Promise<void> {
    const { ok } = await this.#table.update(recordKey(session), 'SET y = :new REMOVE c, ca, l, mc, ak, cp', {
      condition: 'attribute_exists(z)',
      values: { ':new': text(this.#table.settings.randomId()) },
    });
    if (!ok) await this.#table.delete(recordKey(session), { condition: 'attribute_not_exists(z)' });
  }

  /**
   * Deletes a record that a publisher has begun for a session that is over. False: the process that ended the session
   * has seen the record, and passes its messages on.
   */
  async takeBack(session: Incarnation): Promise<boolean> {
    const hasNotEnded = 'attribute_not_exists(z)';
    return (await this.#table.delete(recordKey(session), { condition: hasNotEnded })).ok;
  }

  /** Messages were dropped from the log. */
  async countRemoved(session: SessionRef, { messages, bytes }: Removed): Promise<void> {
    if (messages === 0) return;
    await this.#table.update(recordKey(session), 'SET v = :version, t = :ttl ADD rn :messages, rb :bytes', {
      values: {
        ':version': number(VERSION),
        ':ttl': number(this.#ttl()),
        ':messages': number(messages),
        ':bytes': number(bytes),
      },
    });
  }

  #fieldsOf({ record, attachment, contents, removed }: Omit<StoredRecord, 'nonce'>, nonce: string): Item {
    const kept = record.entries.flatMap(({ name, body }): [string, { M: Item }][] => {
      const content = body === 'inline' || body === 'reference' ? contents.get(name) : undefined;
      return content === undefined ? [] : [[name, { M: content }]];
    });
    return {
      ...recordFields(record, nonce),
      ...(record.connectionId !== undefined &&
        attachment !== undefined && { ca: attachmentFields(attachment) }),
      yw: text(nonce),
      mv: this.#now(),
      rn: number(removed.messages),
      rb: number(removed.bytes),
      t: number(this.#ttl()),
      ...(kept.length > 0 && { mc: { M: Object.fromEntries(kept) } }),
    };
  }

  #now() {
    return number(this.#table.settings.clock.now());
  }

  /** TTL in seconds: longer than any session lasts whose client stays away. */
  #ttl(): number {
    return this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
  }
}

/**
 * The first record of a session. If the incarnation began with its present connection, no message can wait, and
 * publishers post. Otherwise it is unknown what the session was sent before, until a CONNECT writes a record:
 * publishers append.
 */
export function begunBy(session: SessionRef): StoredRecord {
  const { attachment } = session;
  const opening: Opening | undefined = session instanceof SessionSnapshot ? session.opening : undefined;
  if (attachment === undefined || opening?.isNew !== true) return NO_RECORD;
  const { connectionId, receiveMaximum } = attachment;
  const record: QueueRecord = { ...NEW_RECORD, connectionId, receiveMaximum, mode: 'direct' };
  return { ...NO_RECORD, attachment, record };
}

/** The record of an item, with the noted acknowledgements applied. */
export function storedRecordOf(item: Item): StoredRecord {
  const contents = Object.entries(item.mc?.M ?? {}).map(([name, { M = {} }]): [string, Item] => [name, M]);
  const { record, nonce } = recordOfItem(item);
  return {
    record: acknowledgeEntries(record, notedIn(item)).record,
    nonce,
    attachment: attachmentOfItem(item),
    contents: new Map(contents),
    removed: { messages: numberOf(item, 'rn') ?? 0, bytes: numberOf(item, 'rb') ?? 0 },
  };
}
