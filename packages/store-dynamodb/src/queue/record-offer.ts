import type {
  Appended,
  ConnectionId,
  Delivery,
  Message,
  Offer,
  Offered,
  QueueLimits,
  SessionRef,
} from '@apus/broker';
import { DECISIONS_MAX, INLINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { SessionSnapshot } from '../sessions/session-ref.ts';
import type { Bodies } from '../table/bodies.ts';
import { ContentionError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import { encodeMessage } from '../table/message-blob.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/values.ts';
import { type Copies, holderOf, indexOfCopy } from './copies.ts';
import { copyOf, type OfferedCopy, passOn, passOnPlaced } from './offered-copy.ts';
import { entryFields, type Entry as OfferedEntry } from './queue-items.ts';
import { nameOfItem, nameOfOffered, type RecordLog } from './record-log.ts';
import { RecordLook } from './record-look.ts';
import type { HeldRecord, Records } from './records.ts';
import { decide } from './session-record.ts';
import type { Decision, Entry, QueueRecord } from './types.ts';

export interface RecordOfferParts {
  readonly records: Records;
  readonly log: RecordLog;
  readonly bodies: Bodies;
  readonly copies: Copies;
  readonly event: EventCache;
}

/** The messages of one event for one session. */
interface SessionOffer {
  readonly session: SessionRef;
  readonly copies: readonly OfferedCopy[];
  /** The record as it was decided on last; undefined: the session is over. */
  held: HeldRecord | undefined;
  /** Names of the copies that have to be appended. */
  waiting: readonly string[];
  /** A message that is in the log already is to be looked after. */
  isLookDue: boolean;
  /** The connection that was sent one of them before, or not. */
  uncertain: ConnectionId | undefined;
  /** The caller can still send a message that gets a place. */
  mayTake: boolean;
}

/**
 * Offers the messages of an event to many sessions. For each it reads the record, decides on all messages at once, and
 * writes the record as it was read: the copies that fit are the caller's to send. When they have left, `append` adds the
 * others to the log, and looks at the record again: see `Appended` of `decide`.
 */
export class RecordOffer implements Offered {
  readonly #table: Table;
  readonly #parts: RecordOfferParts;
  readonly #limits: QueueLimits;
  readonly #offers: SessionOffer[] = [];
  readonly #looked: RecordLook;
  #dropped = 0;

  constructor(table: Table, parts: RecordOfferParts, limits: QueueLimits) {
    this.#table = table;
    this.#parts = parts;
    this.#limits = limits;
    this.#looked = new RecordLook(parts.records, parts.event);
  }

  get uncertain(): readonly ConnectionId[] {
    return this.#offers.flatMap(({ uncertain }) => uncertain ?? []);
  }

  get waiting(): readonly ConnectionId[] {
    const waits = this.#offers.filter(({ waiting }) => waiting.length > 0);
    return waits.flatMap(({ held }) => held?.attachment?.connectionId ?? []);
  }

  /** The first step. */
  async take(offers: readonly Offer[]): Promise<this> {
    const ttlSeconds = this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
    const bySession = await this.#sessionsOf(offers);
    const copies = new Map<string, OfferedCopy[]>();
    for (const offer of offers) {
      const present = offer.deliveries.filter((delivery) => {
        const isPresent = bySession.get(nameOf(delivery.session)) !== undefined;
        if (!isPresent) passOn(delivery);
        return isPresent;
      });
      if (present.length === 0) continue;
      const content = await this.#content(offer.message, present, ttlSeconds);
      for (const delivery of present) {
        const name = nameOf(delivery.session);
        const isHeld = offer.hold?.has(delivery) === true;
        const its = copies.get(name) ?? [];
        its.push(this.#copyOf(offer.message, delivery, content, ttlSeconds, isHeld));
        copies.set(name, its);
      }
    }
    const taken = [...copies].map(([name, its]) => {
      const session = its[0]?.offered.delivery.session as SessionRef;
      return this.#take(this.#offerTo(session, its, bySession.get(name)));
    });
    await Promise.all(taken);
    return this;
  }

  /** The second step. */
  async append(): Promise<Appended> {
    const ended = new Set(this.uncertain);
    for (const { session, uncertain } of this.#offers)
      if (uncertain !== undefined) await this.#parts.records.lost(session, uncertain);
    // Offers to the holders of known copies join the list meanwhile.
    for (let next = 0; next < this.#offers.length; ) {
      const offers = this.#offers.slice(next);
      next += offers.length;
      await Promise.all(offers.map((offer) => this.#append(offer)));
    }
    const uncertain = [...this.uncertain, ...this.#looked.uncertain].filter((each) => !ended.has(each));
    return { dropped: this.#dropped, uncertain, unannounced: this.#looked.unannounced };
  }

  /** The records of the sessions. Undefined for an incarnation that is over. */
  async #sessionsOf(offers: readonly Offer[]): Promise<ReadonlyMap<string, HeldRecord | undefined>> {
    const sessions = new Map<string, SessionRef>();
    for (const { deliveries } of offers)
      for (const { session } of deliveries)
        if (!sessions.has(nameOf(session))) sessions.set(nameOf(session), session);
    const read = [...sessions].map(
      async ([name, session]) => [name, await this.#parts.records.readOnce(session)] as const,
    );
    return new Map(await Promise.all(read));
  }

  #offerTo(session: SessionRef, copies: readonly OfferedCopy[], held: HeldRecord | undefined): SessionOffer {
    const offer = {
      session,
      copies,
      held,
      waiting: [],
      isLookDue: false,
      uncertain: undefined,
      mayTake: true,
    };
    this.#offers.push(offer);
    return offer;
  }

  #copyOf(
    message: Message,
    delivery: Delivery,
    content: OfferedEntry['content'],
    ttlSeconds: number,
    isHeld: boolean,
  ): OfferedCopy {
    const index = indexOfCopy(delivery, this.#table.settings.randomId);
    const offered = { message, delivery, index, content, ttlSeconds };
    return {
      name: nameOfOffered(delivery.session, offered),
      offered,
      fields: entryFields(offered),
      memory: this.#parts.copies.memoryOf(message.id, index, delivery),
      isHeld,
      isInLog: false,
      isRemembered: false,
      isPlaced: false,
    };
  }

  /** Over 1 KB it is written once for all, before anything refers to it. */
  async #content(
    message: Message,
    deliveries: readonly Delivery[],
    ttlSeconds: number,
  ): Promise<OfferedEntry['content']> {
    const blob = encodeMessage(message);
    if (blob.length <= INLINE_MESSAGE_BYTES_MAX) return { blob };
    const tenant = deliveries[0]?.session.tenant ?? '';
    return { body: await this.#parts.bodies.store(tenant, message.id, blob, ttlSeconds) };
  }

  /** Takes places for the messages that may be sent. */
  async #take(offer: SessionOffer): Promise<void> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (offer.held === undefined) return await this.#refuse(offer);
      if ((await this.#decide(offer, offer.held)) === 'done') return;
      offer.held = await this.#parts.records.read(offer.session);
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /** 'again': another has written meanwhile, or a copy is known. */
  async #decide(offer: SessionOffer, held: HeldRecord): Promise<'done' | 'again'> {
    const copies = offer.copies.filter(({ isPlaced }) => !isPlaced);
    const decision = await this.#decisionOn(offer, held.record, copies);
    for (const effect of decision.effects) {
      if (effect.type === 'refuse') {
        await this.#refuse(offer);
        return 'done';
      }
      if (effect.type === 'end-connection') {
        this.#leaveUncertain(offer, held, effect.connectionId);
        return 'again';
      }
    }
    const taken = entriesTaken(decision);
    if (taken.length > 0 && !(await this.#write(offer, held, decision, copies, taken))) return 'again';
    offer.waiting = decision.effects.flatMap((effect) => (effect.type === 'append' ? effect.names : []));
    offer.isLookDue = decision.effects.some(({ type }) => type === 'look');
    return 'done';
  }

  async #decisionOn(
    { session, mayTake }: SessionOffer,
    record: QueueRecord,
    copies: readonly OfferedCopy[],
  ): Promise<Decision> {
    const names = copies.filter(({ offered }) => offered.delivery.qos === 2).map(({ name }) => name);
    const forgotten = await this.#parts.records.forgotten(session, record, names);
    const decideOn = async (on: QueueRecord) => {
      const isLogAsked = on.connectionId !== undefined && on.mode === 'closing' && on.awaits === 0;
      const read = isLogAsked ? await this.#parts.log.first(session, on.entries.length + 1) : undefined;
      const { clock, postsWithinMs } = this.#table.settings;
      const untilMs = clock.now() + postsWithinMs;
      const log = read?.items.map(nameOfItem) ?? [];
      return decide(on, {
        type: 'offer',
        copies: copies.map((copy) => copyOf(copy, forgotten)),
        log,
        untilMs,
      });
    };
    const offline = { ...record, connectionId: undefined };
    // Messages that their links have no room for wait.
    if (copies.some(({ isHeld }) => isHeld)) return await decideOn(offline);
    const decision = await decideOn(record);
    return mayTake || entriesTaken(decision).length === 0 ? decision : await decideOn(offline);
  }

  /**
   * Ends the connection; newer messages wait behind this one. The connection whose frame this is stays: only its own
   * reply is under way to it, and that comes first. Its client is sent the message when it returns.
   */
  #leaveUncertain(offer: SessionOffer, { record }: HeldRecord, connectionId: ConnectionId): void {
    if (!this.#parts.event.isOf(connectionId)) offer.uncertain = connectionId;
    offer.mayTake = false;
    const names = new Set(record.entries.map(({ name }) => name));
    for (const copy of offer.copies) copy.isPlaced ||= names.has(copy.name);
  }

  async #write(
    offer: SessionOffer,
    held: HeldRecord,
    { record }: Decision,
    copies: readonly OfferedCopy[],
    taken: readonly Entry[],
  ): Promise<boolean> {
    const { session } = offer;
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
        if (written.failed.has(place)) await this.#noteKnown(offer, copy, written.failed.get(place));
      return false;
    }
    for (const copy of its) copy.isPlaced = true;
    if (held.nonce === undefined && !(await this.#looked.isStill(session, held))) {
      const isTakenBack = await this.#parts.records.takeBack(session);
      for (const copy of its) if (isTakenBack) passOnPlaced(copy, session);
      return true;
    }
    const connected = new SessionSnapshot(session, held.attachment);
    for (const [place, { offered }] of its.entries())
      Object.assign(offered.delivery, { session: connected, packetId: taken[place]?.packetId ?? 0 });
    return true;
  }

  async #append(offer: SessionOffer): Promise<void> {
    const { session } = offer;
    offer.mayTake = false;
    let isStored = offer.isLookDue;
    const names = new Set<string>();
    for (;;) {
      const { held, waiting } = offer;
      if (held === undefined) break;
      let isKnown = false;
      for (const copy of offer.copies.filter(({ name }) => waiting.includes(name))) {
        const { offered, memory } = copy;
        const appended = await this.#parts.log.append(session, held, offered, this.#limits, memory);
        if ('known' in appended) {
          await this.#noteKnown(offer, copy, appended.known);
          isKnown = true;
          continue;
        }
        isStored ||= appended.isStored;
        names.add(copy.name);
        copy.isPlaced = true;
        if (appended.dropped === 0) continue;
        this.#dropped += appended.dropped;
        offered.delivery.dropped = (offered.delivery.dropped ?? 0) + appended.dropped;
      }
      if (!isKnown) break;
      offer.held = await this.#parts.records.read(session);
      await this.#take(offer);
      isStored ||= offer.isLookDue;
    }
    if (isStored) await this.#look(offer, names);
  }

  /**
   * An earlier fan-out has placed the copy: here, or with another member of the share group, whose record then decides.
   */
  async #noteKnown(offer: SessionOffer, copy: OfferedCopy, memory: Item | undefined): Promise<void> {
    const { log, records } = this.#parts;
    copy.isRemembered = true;
    const holder = holderOf(memory, offer.session);
    if (holder === undefined) {
      copy.isInLog = await log.has(offer.session, copy.offered);
      return;
    }
    copy.isPlaced = true;
    const isInLog = await log.has(holder, copy.offered);
    const held = await records.read(holder);
    await this.#take(this.#offerTo(holder, [{ ...copy, isInLog, isPlaced: false }], held));
  }

  /** The session is over. Of a copy that is known nothing comes, unless its publisher died before it looked. */
  async #refuse({ session, copies }: SessionOffer): Promise<void> {
    for (const copy of copies.filter(({ isPlaced }) => !isPlaced)) {
      copy.isPlaced = true;
      if (!copy.isRemembered) passOn(copy.offered.delivery);
      else if (copy.isInLog && (await this.#parts.log.delete(session, copy.name)))
        passOnPlaced(copy, session);
    }
  }

  /** After an append. Of a session that is over the messages go to others of its share group. */
  async #look({ session, copies }: SessionOffer, names: ReadonlySet<string>): Promise<void> {
    if ((await this.#looked.look(session, [...names])) === 'seen') return;
    for (const copy of copies)
      if (names.has(copy.name) && (await this.#parts.log.delete(session, copy.name)))
        passOnPlaced(copy, session);
  }
}

/** Messages of one event may be for two incarnations: a client comes back between their matches. */
function nameOf({ key, incarnation }: SessionRef): string {
  return `${key}\0${incarnation}`;
}

function entriesTaken({ effects }: Decision): Entry[] {
  return effects.flatMap((effect) => (effect.type === 'publish' ? effect.entry : []));
}
