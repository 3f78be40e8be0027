import type {
  Acknowledged,
  CompletingPacket,
  Delivery,
  Message,
  Offer,
  Offered,
  PageLimit,
  Queued,
  QueuedPublish,
  QueueLimits,
  QueueStore,
  SessionRef,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { DECISIONS_MAX } from '../limits.ts';
import type { OwnedItems } from '../sessions/owned-items.ts';
import { connectionOf, SessionSnapshot } from '../sessions/session-ref.ts';
import { batchDelete } from '../table/batch.ts';
import type { Bodies } from '../table/bodies.ts';
import { ContentionError, InDoubtError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/values.ts';
import { AnsweredPage } from './answered-page.ts';
import { newOf } from './completed.ts';
import { decide, NEW_RECORD } from './decide.ts';
import { DeduplicationRecords } from './deduplication.ts';
import { namesDequeued } from './entries.ts';
import { bodyRefOf, bytesOfCopy, queuedOf } from './queue-items.ts';
import { RecordAcknowledgements } from './record-acknowledgements.ts';
import { type LogRead, logItemOf, nameOfItem, qosOfItem, RecordLog } from './record-log.ts';
import { RecordLook } from './record-look.ts';
import { RecordOffer } from './record-offer.ts';
import { NO_RECORD, type Records } from './records.ts';
import type { Decision, Dequeue, Effect, Entry, QueueRecord, StoredRecord } from './types.ts';

const NOTHING: readonly Queued[] = [];

/**
 * The queues of sessions. Each session has a record, which decides what the session is sent, and a log of the messages
 * that wait. Each call reads the record, decides on an event (`decide`), and writes the record on condition that it is
 * as it was read.
 */
export class DynamoQueues implements QueueStore {
  readonly #table: Table;
  readonly #bodies: Bodies;
  readonly #ownedItems: OwnedItems;
  readonly #event: EventCache;
  readonly #records: Records;
  readonly #deduplication: DeduplicationRecords;
  readonly #log: RecordLog;
  /** The incarnation for which the last call of `unacknowledged` found nothing: the next call is its `clear`. */
  #emptyIncarnation: string | undefined;
  /** The session whose queue this event has found empty. A nudge announces messages that come later. */
  #idle: string | undefined;
  /**
   * The first PUBLISH that this event has dequeued, for a reply that has not left: the broker asks for another page
   * until one is empty.
   */
  #replied: { readonly key: SessionRef['key']; readonly packetId: PacketId } | undefined;
  readonly #acknowledgements: RecordAcknowledgements;

  constructor(table: Table, records: Records, bodies: Bodies, ownedItems: OwnedItems, event: EventCache) {
    this.#table = table;
    this.#bodies = bodies;
    this.#ownedItems = ownedItems;
    this.#event = event;
    this.#records = records;
    this.#deduplication = new DeduplicationRecords(table);
    this.#log = new RecordLog(table, this.#records, this.#deduplication);
    this.#acknowledgements = new RecordAcknowledgements(this.#records, this.#log, event);
  }

  async offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Promise<number> {
    const offered = await this.offerAll([{ message, deliveries, hold }], limits);
    return (await offered.append()).dropped;
  }

  async offerAll(offers: readonly Offer[], limits: QueueLimits): Promise<Offered> {
    this.#ownedItems.forget();
    const parts = {
      records: this.#records,
      log: this.#log,
      bodies: this.#bodies,
      deduplication: this.#deduplication,
      event: this.#event,
    };
    return await new RecordOffer(this.#table, parts, limits).take(offers);
  }

  async next(session: SessionRef, limit: PageLimit, nowMs: number): Promise<readonly Queued[]> {
    // A frame that wants no reply only acknowledges; a frame with a reply dequeues.
    if (this.#event.isPushing) return NOTHING;
    const isGathering = this.#acknowledgements.recordFor(session) !== undefined;
    if (this.#idle === session.key && !isGathering && !this.#event.isMoreWaiting) return NOTHING;
    const page = await this.#next(session, limit, nowMs);
    if (page.length === 0 && this.#event.isOpen) this.#idle = session.key;
    return page;
  }

  async #next(session: SessionRef, limit: PageLimit, nowMs: number): Promise<readonly Queued[]> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const stored = this.#acknowledgements.recordFor(session) ?? (await this.#records.find(session));
      const isMine = stored?.attachment !== undefined && stored.record.connectionId === connectionOf(session);
      if (isMine && stored.record.mode !== 'backlog') return NOTHING;
      const connected = isMine ? session : await this.#connected(session, stored);
      if (connected === undefined) return NOTHING;
      const page = await this.#dequeue(connected, stored ?? NO_RECORD, limit, nowMs);
      if (page !== undefined) return page;
      // Another process has written the record: `commit` applies the acknowledgements to its record.
      await this.commit();
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /**
   * The session on its present connection, which the record does not name yet. Undefined if there is nothing to
   * dequeue: another connection has taken the session over, or the session is new and has no record. Only CONNECT
   * writes the first record of a session that continues.
   */
  async #connected(session: SessionRef, stored: StoredRecord | undefined): Promise<SessionRef | undefined> {
    const opening = session instanceof SessionSnapshot ? session.opening : undefined;
    if (stored === undefined && opening?.isNew !== false) return undefined;
    const current = opening === undefined ? await this.#records.present(session) : session;
    const connectionId = current && connectionOf(current);
    if (connectionId === undefined) return undefined;
    // A frame of a connection that was taken over dequeues nothing.
    return (connectionOf(session) ?? connectionId) === connectionId ? current : undefined;
  }

  async complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Acknowledged> {
    return await this.#acknowledgements.complete(session, packetId, answer);
  }

  async release(session: SessionRef, packetId: PacketId): Promise<Acknowledged> {
    return await this.#acknowledgements.release(session, packetId);
  }

  /** Writes the acknowledgements that the frame has gathered. */
  async commit(): Promise<void> {
    await this.#acknowledgements.commit();
  }

  /**
   * Called when the incarnation is over: from then on no publisher takes a place, and a publisher that appends deletes
   * its message again.
   */
  async unacknowledged(session: SessionRef): Promise<readonly QueuedPublish[]> {
    const items = await this.#ownedItems.queue(this.#table, session);
    const found = await this.#records.find(session);
    if (found === undefined && items.length === 0) {
      this.#emptyIncarnation = session.incarnation;
      return [];
    }
    const isOver = (await this.#records.present(session)) === undefined;
    const stored = isOver ? ((await this.#records.end(session)) ?? found) : found;
    const inLog = new Map(items.map((item) => [nameOfItem(item), item]));
    const entries = stored?.record.entries ?? [];
    const sent = entries.flatMap((entry): (readonly [Item, PacketId])[] => {
      const item = isReleased(entry)
        ? undefined
        : (stored?.contents.get(entry.name) ?? inLog.get(entry.name));
      return item === undefined ? [] : [[item, entry.packetId]];
    });
    const record = stored?.record ?? NEW_RECORD;
    const forgotten = await this.#forgottenOf(session, record, items);
    const logged = items.map((item) => logItemOf(item, forgotten));
    const waiting = newOf(record, logged).flatMap(({ name }): (readonly [Item, PacketId])[] => {
      const item = inLog.get(name);
      return item === undefined ? [] : [[item, 0]];
    });
    const left = [...sent, ...waiting];
    const refs = left.flatMap(([item]) => bodyRefOf(item) ?? []);
    const bodies = await this.#bodies.load(session.tenant, refs);
    return left.flatMap(([item, packetId]) => {
      const ref = bodyRefOf(item);
      const body = ref && this.#bodies.join(session.tenant, ref, bodies);
      return queuedOf(item, body, session, packetId, false) ?? [];
    });
  }

  async clear(session: SessionRef): Promise<void> {
    const isEmpty = this.#emptyIncarnation === session.incarnation;
    this.#emptyIncarnation = undefined;
    if (isEmpty) return;
    await batchDelete(this.#table, await this.#ownedItems.queue(this.#table, session));
    this.#ownedItems.forget();
    await this.#records.clear(session);
  }

  async length(session: SessionRef): Promise<number> {
    const stored = await this.#records.find(session);
    return await this.#log.length(session, stored ?? NO_RECORD);
  }

  async lookAgain(session: SessionRef): Promise<void> {
    await new RecordLook(this.#records, this.#event).look(session, []);
  }

  /** Undefined when another process has written the record meanwhile. */
  async #dequeue(
    session: SessionRef,
    first: StoredRecord,
    limit: PageLimit,
    nowMs: number,
  ): Promise<readonly Queued[] | undefined> {
    const page = new AnsweredPage(limit);
    let stored = first;
    await this.#acknowledgements.deleteFromLog(session);
    for (let isAgain = false; ; isAgain = true) {
      const read = await this.#log.first(session, namesDequeued(stored.record).size + limit.messages + 1);
      const log = await this.#logOf(session, stored.record, read);
      const firstOfReply = this.#firstOfReply(session) || page.firstPacketId;
      const dequeue: Dequeue = { log, limit: page.left, nowMs, firstOfReply };
      const decision = this.#dequeueOn(session, stored, dequeue, isAgain);
      if (decision.effects.some(({ type }) => type === 'refuse')) return NOTHING;
      const isArrived = !this.#event.isOpen && decision.record.awaits !== 0;
      const record = isArrived ? { ...decision.record, awaits: 0 } : decision.record;
      const removed = await this.#deleteAll(session, stored, decision.effects, read.items);
      const { attachment } = session;
      const isUnchanged = record === stored.record && removed.messages === stored.removed.messages;
      if (isUnchanged && this.#acknowledgements.recordFor(session) === undefined) {
        this.#event.noteMore(record.mode === 'backlog');
        return page.entries;
      }
      const written = await this.#records.write(session, stored, { ...stored, attachment, record, removed });
      // It is unknown whether the record says that the page was sent. The connection is closed, and the next one is
      // sent the page.
      if (!written.ok && written.isInDoubt === true) throw new InDoubtError('PutItem', undefined);
      if (!written.ok) return page.isEmpty ? undefined : page.entries;
      this.#acknowledgements.written(session);
      this.#event.noteMore(record.mode === 'backlog');
      await this.#add(page, session, stored, decision.effects, read.items);
      this.#noteReplied(session, page);
      const isLookDue = decision.effects.some(({ type }) => type === 'look-again');
      const isMoreLeft = isLookDue ? await this.#hasOthers(session, record) : isAllExpired(page, decision);
      if (!isMoreLeft) return page.entries;
      stored = { ...stored, attachment, record: written.record, removed, nonce: written.nonce };
    }
  }

  /** The messages that were read from the log, and which of them are repetitions of copies that were placed before. */
  async #logOf(session: SessionRef, record: QueueRecord, read: LogRead): Promise<Dequeue['log']> {
    const forgotten = await this.#forgottenOf(session, record, read.items);
    return { items: read.items.map((item) => logItemOf(item, forgotten)), isComplete: read.isComplete };
  }

  /** Whether the log has messages that the record has not dequeued: they were appended while it was written. */
  async #hasOthers(session: SessionRef, record: QueueRecord): Promise<boolean> {
    const dequeued = namesDequeued(record);
    const { items } = await this.#log.first(session, dequeued.size + 1);
    return items.some((item) => !dequeued.has(nameOfItem(item)));
  }

  /** Names of QoS 2 messages in the log whose copies were placed before, and whose names the record has forgotten. */
  async #forgottenOf(
    session: SessionRef,
    record: QueueRecord,
    items: readonly Item[],
  ): Promise<ReadonlySet<string>> {
    const names = items.filter((item) => qosOfItem(item) === 2).map(nameOfItem);
    return await this.#records.forgotten(session, record, names);
  }

  #firstOfReply({ key }: SessionRef): PacketId {
    return this.#replied?.key === key ? this.#replied.packetId : 0;
  }

  /** Outside of an event a page has arrived when the caller asks for the next one. */
  #noteReplied(session: SessionRef, { firstPacketId }: AnsweredPage): void {
    if (!this.#event.isOpen || firstPacketId === 0 || this.#firstOfReply(session) !== 0) return;
    this.#replied = { key: session.key, packetId: firstPacketId };
  }

  #dequeueOn(session: SessionRef, { record }: StoredRecord, dequeue: Dequeue, isAgain: boolean): Decision {
    const { connectionId = '', receiveMaximum = 0 } = session.attachment ?? {};
    if (isAgain) return decide(record, { type: 'dequeue-again', connectionId, dequeue });
    if (record.connectionId === connectionId)
      return decide(record, { type: 'frame', connectionId, acknowledgements: [], dequeue });
    const { epoch = 0 } = (session instanceof SessionSnapshot && session.opening) || {};
    return decide(record, { type: 'connect', epoch, connectionId, receiveMaximum, dequeue });
  }

  /**
   * Deletes items of the log before the record is written: if that write fails, an entry without a body counts as
   * acknowledged.
   */
  async #deleteAll(
    session: SessionRef,
    stored: StoredRecord,
    effects: readonly Effect[],
    items: readonly Item[] = [],
  ) {
    let { messages, bytes } = stored.removed;
    for (const effect of effects) {
      if (effect.type !== 'delete' || !(await this.#log.delete(session, effect.name))) continue;
      const entry = stored.record.entries.find(({ name }) => name === effect.name);
      const item = items.find((each) => nameOfItem(each) === effect.name);
      messages += 1;
      bytes += entry?.bytes ?? (item === undefined ? 0 : bytesOfCopy(item));
    }
    return { messages, bytes };
  }

  async #add(
    page: AnsweredPage,
    session: SessionRef,
    stored: StoredRecord,
    effects: readonly Effect[],
    items: readonly Item[],
  ): Promise<void> {
    const inLog = new Map(items.map((item) => [nameOfItem(item), item]));
    const itemOf = ({ name, body }: Entry) => (body === 'log' ? inLog.get(name) : stored.contents.get(name));
    const refs = effects.flatMap((effect) => {
      const item = effect.type === 'publish' ? itemOf(effect.entry) : undefined;
      return (item && bodyRefOf(item)) ?? [];
    });
    const bodies = await this.#bodies.load(session.tenant, refs);
    for (const effect of effects) {
      if (effect.type === 'pubrel') page.add({ type: 'pubrel', packetId: effect.packetId }, 0);
      if (effect.type !== 'publish') continue;
      const item = itemOf(effect.entry);
      const ref = item && bodyRefOf(item);
      const body = ref && this.#bodies.join(session.tenant, ref, bodies);
      const { packetId, bytes } = effect.entry;
      const queued = item && queuedOf(item, body, session, packetId, effect.isDup);
      if (queued !== undefined) page.add(queued, bytes);
    }
  }
}

/**
 * The broker takes an empty page as the end. A page of expired messages alone is empty, so the next messages are read.
 */
function isAllExpired(page: AnsweredPage, { effects }: Decision): boolean {
  return page.isEmpty && effects.some(({ type }) => type === 'delete');
}

/** PUBREC has come: the message counts as acknowledged. */
function isReleased({ phase }: Entry): boolean {
  return phase === 'pubrel-due' || phase === 'pubrel-sent';
}
