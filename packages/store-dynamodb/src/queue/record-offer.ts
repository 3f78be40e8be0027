import type { Delivery, Message, QueueLimits, SessionRef } from '@apus/broker';
import { DECISIONS_MAX, INLINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { SessionSnapshot } from '../sessions/session-ref.ts';
import type { Bodies } from '../table/bodies.ts';
import { ContentionError } from '../table/errors.ts';
import { encodeMessage } from '../table/message-blob.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/values.ts';
import { type Copies, holderOf, indexOfCopy } from './copies.ts';
import { entryFields, type Entry as Offered, sizeOfEntry } from './queue-items.ts';
import { nameOfItem, nameOfOffered, type RecordLog } from './record-log.ts';
import type { HeldRecord, Records } from './records.ts';
import { decide } from './session-record.ts';
import type { Copy, Decision, Entry } from './types.ts';

export interface RecordOfferParts {
  readonly records: Records;
  readonly log: RecordLog;
  readonly bodies: Bodies;
  readonly copies: Copies;
}

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
    const ttlSeconds = this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
    const held = await this.#heldFor(deliveries);
    const isWanted = deliveries.some(({ session }) => held.get(session.key) !== undefined);
    const content = isWanted ? await this.#content(message, deliveries, ttlSeconds) : undefined;
    const bySession = new Map<string, OfferedCopy[]>();
    for (const delivery of deliveries) {
      const { session } = delivery;
      if (held.get(session.key) === undefined || content === undefined) {
        passOn(delivery);
        continue;
      }
      const copies = bySession.get(session.key) ?? [];
      bySession.set(session.key, copies);
      const index = delivery.copy === undefined ? this.#table.settings.randomId() : indexOfCopy(delivery);
      const offered = { message, delivery, index, content, ttlSeconds };
      copies.push({
        name: nameOfOffered(session, offered),
        offered,
        fields: entryFields(offered),
        memory: this.#parts.copies.memoryOf(message.id, index, delivery),
        isHeld: hold?.has(delivery) === true,
        isInLog: false,
        isRemembered: false,
        isPlaced: false,
      });
    }
    const offers = [...bySession].map(([key, copies]) =>
      this.#offer(copies[0]?.offered.delivery.session as SessionRef, copies, held.get(key)),
    );
    await Promise.all(offers);
    return this.#dropped;
  }

  /** The records of the sessions, by session key. Undefined for an incarnation that is over. */
  async #heldFor(deliveries: readonly Delivery[]): Promise<ReadonlyMap<string, HeldRecord | undefined>> {
    const sessions = new Map(deliveries.map(({ session }) => [session.key, session]));
    const read = [...sessions].map(
      async ([key, session]) => [key, await this.#parts.records.readOnce(session)] as const,
    );
    return new Map(await Promise.all(read));
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

  async #offer(
    session: SessionRef,
    copies: readonly OfferedCopy[],
    first: HeldRecord | undefined,
  ): Promise<void> {
    let held = first;
    keep(session, undefined);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const open = copies.filter(({ isPlaced }) => !isPlaced);
      if (held === undefined) {
        await this.#refuse(session, open);
        return;
      }
      const outcome = await this.#decide(session, held, open);
      if (outcome === 'done') return;
      held = await this.#parts.records.read(session);
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /** 'again': another has written meanwhile, or a copy is known. */
  async #decide(
    session: SessionRef,
    held: HeldRecord,
    copies: readonly OfferedCopy[],
  ): Promise<'done' | 'again'> {
    // What its link has no room for waits.
    const isHeld = copies.some((copy) => copy.isHeld);
    const record = isHeld ? { ...held.record, connectionId: undefined } : held.record;
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
        await this.#refuse(session, copies);
        return 'done';
      }
      if (effect.type === 'end-connection') {
        const connected = new SessionSnapshot(session, held.attachment);
        if ((await this.#table.settings.endUncertain?.(connected)) === true)
          await this.#parts.records.lost(session, effect.connectionId);
        return 'done';
      }
    }
    const taken = entriesTaken(decision);
    if (taken.length > 0 && !(await this.#take(session, held, decision, copies, taken))) return 'again';
    const names = decision.effects.flatMap((effect) => (effect.type === 'append' ? effect.names : []));
    const appended = await this.#append(session, held, copies, names);
    const looks = appended.isStored || decision.effects.some(({ type }) => type === 'look');
    if (looks) await this.#look(session, copies, names);
    return appended.isKnown ? 'again' : 'done';
  }

  async #take(
    session: SessionRef,
    held: HeldRecord,
    { record }: Decision,
    copies: readonly OfferedCopy[],
    taken: readonly Entry[],
  ): Promise<boolean> {
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
        if (written.failed.has(place)) await this.#noteKnown(session, copy, written.failed.get(place));
      return false;
    }
    if (held.nonce === undefined && !(await this.#isStill(session, held))) {
      const isTakenBack = await this.#parts.records.takeBack(session);
      for (const copy of its) {
        copy.isPlaced = true;
        if (isTakenBack) passOnPlaced(copy, session);
      }
      return true;
    }
    keep(session, { ...held, record, contents, nonce: written.nonce });
    const connected = new SessionSnapshot(session, held.attachment);
    for (const [place, copy] of its.entries()) {
      copy.isPlaced = true;
      Object.assign(copy.offered.delivery, { session: connected, packetId: taken[place]?.packetId ?? 0 });
    }
    return true;
  }

  async #append(
    session: SessionRef,
    held: HeldRecord,
    copies: readonly OfferedCopy[],
    names: readonly string[],
  ): Promise<{ isStored: boolean; isKnown: boolean }> {
    let [isStored, isKnown] = [false, false];
    if (names.length === 0) return { isStored, isKnown };
    keep(session, undefined);
    if (held.attachment !== undefined)
      await this.#table.settings.beforeAppend?.(new SessionSnapshot(session, held.attachment));
    for (const copy of copies.filter(({ name }) => names.includes(name))) {
      const { offered, memory } = copy;
      const appended = await this.#parts.log.append(session, held, offered, this.#limits, memory);
      if ('known' in appended) {
        await this.#noteKnown(session, copy, appended.known);
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
  async #noteKnown(session: SessionRef, copy: OfferedCopy, memory: Item | undefined): Promise<void> {
    const { log, records } = this.#parts;
    copy.isRemembered = true;
    const holder = holderOf(memory, session);
    if (holder === undefined) {
      copy.isInLog = await log.has(session, copy.offered);
      return;
    }
    const held = await records.read(holder);
    const isInLog = await log.has(holder, copy.offered);
    await this.#offer(holder, [{ ...copy, isInLog }], held);
  }

  /** The session is over. Of a copy that is known nothing comes, unless its publisher died before it looked. */
  async #refuse(session: SessionRef, copies: readonly OfferedCopy[]): Promise<void> {
    for (const copy of copies) {
      if (!copy.isRemembered) passOn(copy.offered.delivery);
      else if (copy.isInLog && (await this.#parts.log.delete(session, copy.name)))
        passOnPlaced(copy, session);
    }
  }

  /** After an append: the client draws it, or is told to fetch. */
  async #look(session: SessionRef, copies: readonly OfferedCopy[], names: readonly string[]): Promise<void> {
    const { records, log } = this.#parts;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const held = await records.read(session);
      const [effect] = held === undefined ? [] : decide(held.record, { type: 'appended' }).effects;
      if (held === undefined || effect?.type === 'pass-on') {
        for (const copy of copies)
          if (names.includes(copy.name) && (await log.delete(session, copy.name)))
            passOnPlaced(copy, session);
        return;
      }
      const connected = new SessionSnapshot(session, held.attachment);
      if (effect?.type === 'nudge') await this.#table.settings.nudge?.(connected);
      if (effect?.type !== 'object') return;
      if (await this.#object(session, held)) {
        await this.#table.settings.nudge?.(connected);
        return;
      }
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /**
   * The first record of a session is begun from what its item said. Its client may have gone meanwhile, and has found no
   * record that could be told so. False: the session is over.
   */
  async #isStill(session: SessionRef, { attachment }: HeldRecord): Promise<boolean> {
    const { records } = this.#parts;
    const present = await records.present(session);
    if (present === undefined || attachment === undefined) return false;
    if (present.attachment?.connectionId !== attachment.connectionId)
      await records.lost(session, attachment.connectionId);
    return true;
  }

  /** False: the record has changed meanwhile. */
  async #object(session: SessionRef, held: HeldRecord): Promise<boolean> {
    if (held.nonce !== undefined) return await this.#parts.records.object(session);
    const { record } = decide(held.record, { type: 'object' });
    return (await this.#parts.records.write(session, held, { ...held, record })).ok;
  }
}

function keep(session: SessionRef, held: HeldRecord | undefined): void {
  if (session instanceof SessionSnapshot) session.keep(held);
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

/**
 * It was placed, and nobody has been sent it. The memory names this member, so it goes on under another name: the one under
 * which it is passed on by whoever ends the session.
 */
function passOnPlaced({ offered: { delivery } }: OfferedCopy, session: SessionRef): void {
  if (delivery.share !== undefined) Object.assign(delivery, { session, passOnAs: session.incarnation });
}

/** Nobody has been given it: it is the same copy for another member of the share group. */
function passOn(delivery: Delivery): void {
  if (delivery.share !== undefined) delivery.passOnAs = delivery.copy ?? '';
}
