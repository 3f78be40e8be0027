import type { Delivery, Message, QueueLimits, SessionRef } from '@apus/broker';
import type { Bodies } from '../bodies.ts';
import { type Copies, holderOf, indexOfCopy } from '../copies.ts';
import { ContentionError } from '../errors.ts';
import { DECISIONS_MAX, INLINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { encodeMessage } from '../message-blob.ts';
import { entryFields, type Entry as Offered, sizeOfEntry } from '../queue-items.ts';
import type { QueueView, QueueViews } from '../queue-view.ts';
import type { Table } from '../table.ts';
import type { Item } from '../values.ts';
import { nameOfItem, nameOfOffered, type RecordLog } from './record-log.ts';
import type { HeldRecord, Records } from './records.ts';
import { decide } from './session-record.ts';
import type { Copy, Decision, Entry } from './types.ts';

export interface RecordOfferParts {
  readonly views: QueueViews;
  readonly records: Records;
  readonly log: RecordLog;
  readonly bodies: Bodies;
  readonly copies: Copies;
}

const NO_PAGE = { messages: 0, bytes: 0 };

/** One copy of the message on its way to a session. */
interface OfferedCopy {
  readonly name: string;
  readonly offered: Offered;
  readonly fields: Item;
  /** By which it is known when it comes again. */
  readonly memory: Item | undefined;
  readonly isHeld: boolean;
  isInLog: boolean;
  isRemembered: boolean;
  /** This call has taken or appended it. */
  isPlaced: boolean;
}

/**
 * Offers one message to many sessions. For each it reads the record, decides, and writes the record as it was read: the
 * copies that fit are the caller's to send, the others are appended to the log. A publisher that has appended looks at the
 * record again: see `Appended`.
 */
export class RecordOffer {
  readonly #table: Table;
  readonly #parts: RecordOfferParts;
  readonly #limits: QueueLimits;
  #dropped = 0;

  constructor(table: Table, parts: RecordOfferParts, limits: QueueLimits) {
    this.#table = table;
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Answers how many messages were dropped. */
  async run(
    message: Message,
    deliveries: readonly Delivery[],
    hold?: ReadonlySet<Delivery>,
  ): Promise<number> {
    const views = await this.#parts.views.of(deliveries.map(({ session }) => session));
    const ttlSeconds = this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
    const isWanted = views.some((view) => view !== undefined);
    const content = isWanted ? await this.#content(message, deliveries, ttlSeconds) : undefined;
    const bySession = new Map<string, { readonly view: QueueView; readonly copies: OfferedCopy[] }>();
    for (const [place, delivery] of deliveries.entries()) {
      const view = views[place];
      if (view === undefined || content === undefined) {
        passOn(delivery);
        continue;
      }
      const known = bySession.get(view.session.key) ?? { view, copies: [] };
      bySession.set(view.session.key, known);
      const index = delivery.copy === undefined ? this.#table.settings.randomId() : indexOfCopy(delivery);
      const offered = { message, delivery, index, content, ttlSeconds };
      known.copies.push({
        name: nameOfOffered(view.session, offered),
        offered,
        fields: entryFields(offered),
        memory: this.#parts.copies.memoryOf(message.id, index, delivery),
        isHeld: hold?.has(delivery) === true,
        isInLog: false,
        isRemembered: false,
        isPlaced: false,
      });
    }
    await Promise.all([...bySession.values()].map(({ view, copies }) => this.#offer(view, copies)));
    return this.#dropped;
  }

  /** Over 1 KB it is written once for all, before anything refers to it. */
  async #content(
    message: Message,
    deliveries: readonly Delivery[],
    ttlSeconds: number,
  ): Promise<Offered['content']> {
    const blob = encodeMessage(message);
    if (blob.length <= INLINE_MESSAGE_BYTES_MAX) return { blob };
    const tenant = deliveries[0]?.session.tenant ?? '';
    return { body: await this.#parts.bodies.store(tenant, message.id, blob, ttlSeconds) };
  }

  async #offer(first: QueueView, copies: readonly OfferedCopy[]): Promise<void> {
    let view = first;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const held = await this.#parts.records.read(view);
      const { connectionId } = held.record;
      if (connectionId !== undefined && connectionId !== view.connectionId) {
        const [now] = await this.#parts.views.read([view.session]);
        if (now === undefined) {
          for (const { offered } of copies) passOn(offered.delivery);
          return;
        }
        view = now;
      }
      if (await this.#connects(view, held)) continue;
      const open = copies.filter(({ isPlaced }) => !isPlaced);
      const outcome = await this.#decide(view, held, open);
      if (outcome === 'done') return;
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /**
   * The session has another connection than its record, nothing to be sent again, and an empty log: the record may follow,
   * whether or not the CONNECT has come so far. What is appended meanwhile objects to `closing`.
   */
  async #connects(view: QueueView, held: HeldRecord): Promise<boolean> {
    const { session, connectionId, receiveMaximum, standing } = view;
    const { record } = held;
    if (connectionId === undefined || record.connectionId === connectionId || record.entries.length > 0)
      return false;
    if (record.hasEnded || record.epoch >= standing.epoch) return false;
    const { items } = await this.#parts.log.first(session, 1);
    if (items.length > 0) return false;
    const draw = { log: { items: [], isComplete: true }, limit: NO_PAGE, nowMs: 0, firstOfReply: 0 };
    const connected = decide(record, {
      type: 'connect',
      epoch: standing.epoch,
      connectionId,
      receiveMaximum,
      draw,
    });
    await this.#parts.records.write(session, held, { ...held, record: connected.record });
    return true;
  }

  /** 'again': another has written meanwhile, or a copy is known. */
  async #decide(
    view: QueueView,
    held: HeldRecord,
    copies: readonly OfferedCopy[],
  ): Promise<'done' | 'again'> {
    const { session } = view;
    const mayTake = held.record.connectionId === view.connectionId && !copies.some(({ isHeld }) => isHeld);
    // The session is on its way to another connection, whose CONNECT draws; or its link is full.
    const record = mayTake ? held.record : { ...held.record, connectionId: undefined };
    const isLogAsked = record.connectionId !== undefined && record.mode === 'closing' && record.awaits === 0;
    const read = isLogAsked ? await this.#parts.log.first(session, record.entries.length + 1) : undefined;
    const decision = decide(record, {
      type: 'offer',
      copies: copies.map(copyOf),
      log: read?.items.map(nameOfItem) ?? [],
      untilMs: this.#table.settings.clock.now() + this.#table.settings.postsWithinMs,
    });
    for (const effect of decision.effects) {
      if (effect.type === 'refuse') {
        for (const { offered } of copies) passOn(offered.delivery);
        return 'done';
      }
      if (effect.type === 'end-connection') {
        if ((await this.#table.settings.endUncertain?.(session)) === true)
          await this.#parts.records.lost(session, effect.connectionId);
        return 'done';
      }
    }
    const taken = entriesTaken(decision);
    if (taken.length > 0 && !(await this.#take(view, held, decision, copies, taken))) return 'again';
    const names = decision.effects.flatMap((effect) => (effect.type === 'append' ? effect.names : []));
    const appended = await this.#append(view, held, copies, names);
    const looks = appended.isStored || decision.effects.some(({ type }) => type === 'look');
    if (looks) await this.#look(view, copies, names);
    return appended.isKnown ? 'again' : 'done';
  }

  async #take(
    view: QueueView,
    held: HeldRecord,
    { record }: Decision,
    copies: readonly OfferedCopy[],
    taken: readonly Entry[],
  ): Promise<boolean> {
    const { session } = view;
    const its = taken.flatMap((entry) => copies.find(({ name }) => name === entry.name) ?? []);
    const contents = new Map(held.contents);
    for (const { name, fields } of its) contents.set(name, fields);
    const remembered = its.filter(({ memory }) => memory !== undefined);
    const along = remembered.flatMap(({ memory }) =>
      memory === undefined ? [] : this.#parts.copies.remember(memory),
    );
    const written = await this.#parts.records.write(session, held, { ...held, record, contents }, along);
    if (!written.ok) {
      for (const [place, copy] of remembered.entries())
        if (written.failed.has(place)) await this.#noteKnown(view, copy, written.failed.get(place));
      return false;
    }
    if (held.nonce === undefined && (await this.#isOver(session))) {
      await this.#parts.records.delete(session);
      for (const { offered } of copies) passOn(offered.delivery);
      return true;
    }
    for (const [place, copy] of its.entries()) {
      copy.isPlaced = true;
      Object.assign(copy.offered.delivery, { session, packetId: taken[place]?.packetId ?? 0 });
    }
    return true;
  }

  async #append(
    view: QueueView,
    held: HeldRecord,
    copies: readonly OfferedCopy[],
    names: readonly string[],
  ): Promise<{ isStored: boolean; isKnown: boolean }> {
    let [isStored, isKnown] = [false, false];
    if (names.length > 0 && view.connectionId !== undefined)
      await this.#table.settings.beforeWaiting?.(view.session);
    for (const copy of copies.filter(({ name }) => names.includes(name))) {
      const { offered, memory } = copy;
      const appended = await this.#parts.log.append(view.session, held, offered, this.#limits, memory);
      if ('known' in appended) {
        await this.#noteKnown(view, copy, appended.known);
        isKnown = true;
        continue;
      }
      isStored ||= appended.isStored;
      copy.isPlaced = true;
      if (appended.dropped === 0) continue;
      this.#dropped += appended.dropped;
      offered.delivery.dropped = (offered.delivery.dropped ?? 0) + appended.dropped;
    }
    return { isStored, isKnown };
  }

  /** An earlier fan-out has placed it: here, or with another member of the share group, whose record decides then. */
  async #noteKnown(view: QueueView, copy: OfferedCopy, memory: Item | undefined): Promise<void> {
    copy.isRemembered = true;
    const holder = holderOf(memory, view.session);
    if (holder === undefined) {
      copy.isInLog = await this.#parts.log.has(view.session, copy.offered);
      return;
    }
    const [other] = await this.#parts.views.read([holder]);
    if (other === undefined) return;
    const isInLog = await this.#parts.log.has(other.session, copy.offered);
    await this.#offer(other, [{ ...copy, isInLog }]);
  }

  /** After an append: somebody draws it, or the client is told to fetch. */
  async #look(view: QueueView, copies: readonly OfferedCopy[], names: readonly string[]): Promise<void> {
    const { records, log } = this.#parts;
    const { session } = view;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const held = await records.read(view);
      const isOver = held.nonce === undefined && (await this.#isOver(session));
      const [effect] = decide(held.record, { type: 'appended' }).effects;
      if (isOver || effect?.type === 'pass-on') {
        for (const { name, offered } of copies)
          if (names.includes(name) && (await log.delete(session, name))) passOn(offered.delivery);
        return;
      }
      if (effect?.type === 'nudge') await this.#table.settings.nudge?.(session);
      if (effect?.type !== 'object') return;
      if (await this.#object(session, held)) {
        await this.#table.settings.nudge?.(session);
        return;
      }
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /** Where there was no record, nobody has said there that the session has ended. */
  async #isOver(session: SessionRef): Promise<boolean> {
    const [now] = await this.#parts.views.read([session]);
    return now === undefined;
  }

  /** False: the record has changed meanwhile. */
  async #object(session: SessionRef, held: HeldRecord): Promise<boolean> {
    if (held.nonce !== undefined) return await this.#parts.records.object(session);
    const { record } = decide(held.record, { type: 'object' });
    return (await this.#parts.records.write(session, held, { ...held, record })).ok;
  }
}

function copyOf({ name, offered, fields, isInLog, isRemembered }: OfferedCopy): Copy {
  const body = 'blob' in offered.content ? 'inline' : 'reference';
  return {
    name,
    qos: offered.delivery.qos === 2 ? 2 : 1,
    body,
    bytes: sizeOfEntry(fields),
    isInLog,
    isRemembered,
  };
}

function entriesTaken({ effects }: Decision): Entry[] {
  return effects.flatMap((effect) => (effect.type === 'publish' ? effect.entry : []));
}

/** Nobody has been given it: it is the same copy for another member of the share group. */
function passOn(delivery: Delivery): void {
  if (delivery.share !== undefined) delivery.passOnAs = delivery.copy ?? '';
}
