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
import { decide } from './decide.ts';
import { type DeduplicationRecords, holderOf, indexOfCopy } from './deduplication.ts';
import { copyOf, type OfferedCopy, passOn, passOnPlaced } from './offered-copy.ts';
import { copyFields, type StorableCopy } from './queue-items.ts';
import { nameOfItem, nameOfOffered, type RecordLog } from './record-log.ts';
import { RecordLook } from './record-look.ts';
import type { Records } from './records.ts';
import type { Decision, Entry, QueueRecord, StoredRecord } from './types.ts';

export interface RecordOfferParts {
  readonly records: Records;
  readonly log: RecordLog;
  readonly bodies: Bodies;
  readonly deduplication: DeduplicationRecords;
  readonly event: EventCache;
}

/** The messages of one event for one session. */
interface SessionOffer {
  readonly session: SessionRef;
  readonly copies: readonly OfferedCopy[];
  /** The record of the last decision. Undefined: the session is over. */
  stored: StoredRecord | undefined;
  /** Names of the copies that the second step appends. */
  waiting: readonly string[];
  /** A copy is in the log already: the second step makes sure that the client fetches it. */
  isLookDue: boolean;
  /** The connection for which it is unknown whether it was sent one of the copies. */
  uncertain: ConnectionId | undefined;
  /** False once the first step is over: a copy that got a place now would not be posted. */
  mayTake: boolean;
}

/**
 * Offers the messages of an event to many sessions, in two steps. `take` reads each session's record, decides on all
 * messages at once, and writes the record; the caller posts the copies that got a place. Then `append` adds the others
 * to the log and looks at the records again: see `Appended` of `decide`.
 */
export class RecordOffer implements Offered {
  readonly #table: Table;
  readonly #parts: RecordOfferParts;
  readonly #limits: QueueLimits;
  readonly #offers: SessionOffer[] = [];
  readonly #recordLook: RecordLook;
  #dropped = 0;

  constructor(table: Table, parts: RecordOfferParts, limits: QueueLimits) {
    this.#table = table;
    this.#parts = parts;
    this.#limits = limits;
    this.#recordLook = new RecordLook(parts.records, parts.event);
  }

  get uncertain(): readonly ConnectionId[] {
    return this.#offers.flatMap(({ uncertain }) => uncertain ?? []);
  }

  get waiting(): readonly ConnectionId[] {
    const waits = this.#offers.filter(({ waiting }) => waiting.length > 0);
    return waits.flatMap(({ stored }) => stored?.attachment?.connectionId ?? []);
  }

  /** The first step: places for the copies that may be posted. */
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

  /** The second step: the other copies are appended to the logs. */
  async append(): Promise<Appended> {
    const ended = new Set(this.uncertain);
    for (const { session, uncertain } of this.#offers)
      if (uncertain !== undefined) await this.#parts.records.lost(session, uncertain);
    // `#noteKnown` adds offers to other members of share groups while this loop runs.
    for (let next = 0; next < this.#offers.length; ) {
      const offers = this.#offers.slice(next);
      next += offers.length;
      await Promise.all(offers.map((offer) => this.#append(offer)));
    }
    const uncertain = [...this.uncertain, ...this.#recordLook.uncertain].filter((each) => !ended.has(each));
    return { dropped: this.#dropped, uncertain, unannounced: this.#recordLook.unannounced };
  }

  /** The records of the sessions. Undefined for an incarnation that is over. */
  async #sessionsOf(offers: readonly Offer[]): Promise<ReadonlyMap<string, StoredRecord | undefined>> {
    const sessions = new Map<string, SessionRef>();
    for (const { deliveries } of offers)
      for (const { session } of deliveries)
        if (!sessions.has(nameOf(session))) sessions.set(nameOf(session), session);
    const read = [...sessions].map(
      async ([name, session]) => [name, await this.#parts.records.readOnce(session)] as const,
    );
    return new Map(await Promise.all(read));
  }

  #offerTo(
    session: SessionRef,
    copies: readonly OfferedCopy[],
    stored: StoredRecord | undefined,
  ): SessionOffer {
    const offer = {
      session,
      copies,
      stored,
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
    content: StorableCopy['content'],
    ttlSeconds: number,
    isHeld: boolean,
  ): OfferedCopy {
    const index = indexOfCopy(delivery, this.#table.settings.randomId);
    const offered = { message, delivery, index, content, ttlSeconds };
    return {
      name: nameOfOffered(delivery.session, offered),
      offered,
      fields: copyFields(offered),
      deduplication: this.#parts.deduplication.recordOf(message.id, index, delivery),
      isHeld,
      isInLog: false,
      wasPlaced: false,
      isDone: false,
    };
  }

  /** A message of more than 1 KB is stored once for all recipients, before anything refers to it. */
  async #content(
    message: Message,
    deliveries: readonly Delivery[],
    ttlSeconds: number,
  ): Promise<StorableCopy['content']> {
    const blob = encodeMessage(message);
    if (blob.length <= INLINE_MESSAGE_BYTES_MAX) return { blob };
    const tenant = deliveries[0]?.session.tenant ?? '';
    return { body: await this.#parts.bodies.store(tenant, message.id, blob, ttlSeconds) };
  }

  /** Decides until the record could be written. */
  async #take(offer: SessionOffer): Promise<void> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (offer.stored === undefined) return await this.#refuse(offer);
      if ((await this.#decide(offer, offer.stored)) === 'done') return;
      offer.stored = await this.#parts.records.read(offer.session);
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /** 'again': another process has written the record, or an earlier fan-out has placed a copy. */
  async #decide(offer: SessionOffer, stored: StoredRecord): Promise<'done' | 'again'> {
    const copies = offer.copies.filter(({ isDone }) => !isDone);
    const decision = await this.#decisionOn(offer, stored.record, copies);
    for (const effect of decision.effects) {
      if (effect.type === 'refuse') {
        await this.#refuse(offer);
        return 'done';
      }
      if (effect.type === 'end-connection') {
        this.#leaveUncertain(offer, stored, effect.connectionId);
        return 'again';
      }
    }
    const taken = entriesTaken(decision);
    if (taken.length > 0 && !(await this.#write(offer, stored, decision, copies, taken))) return 'again';
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
    // A copy whose link has no room waits, and so do all others: they keep their order.
    if (copies.some(({ isHeld }) => isHeld)) return await decideOn(offline);
    const decision = await decideOn(record);
    return mayTake || entriesTaken(decision).length === 0 ? decision : await decideOn(offline);
  }

  /**
   * Marks the connection to be closed; newer messages wait after this one. The connection whose frame is handled stays
   * open: nothing but its own reply is on the way to it, and the reply comes first. Its client is sent the message on
   * its next connection.
   */
  #leaveUncertain(offer: SessionOffer, { record }: StoredRecord, connectionId: ConnectionId): void {
    if (!this.#parts.event.isOf(connectionId)) offer.uncertain = connectionId;
    offer.mayTake = false;
    const names = new Set(record.entries.map(({ name }) => name));
    for (const copy of offer.copies) copy.isDone ||= names.has(copy.name);
  }

  async #write(
    offer: SessionOffer,
    stored: StoredRecord,
    { record }: Decision,
    copies: readonly OfferedCopy[],
    taken: readonly Entry[],
  ): Promise<boolean> {
    const { session } = offer;
    const its = taken.flatMap((entry) => copies.find(({ name }) => name === entry.name) ?? []);
    const contents = new Map(stored.contents);
    for (const { name, fields } of its) contents.set(name, fields);
    const remembered = its.filter(({ deduplication }) => deduplication !== undefined);
    const along = remembered.flatMap(({ deduplication }) =>
      deduplication === undefined ? [] : this.#parts.deduplication.putFirst(deduplication),
    );
    const written = await this.#parts.records.write(session, stored, { ...stored, record, contents }, along);
    if (!written.ok) {
      for (const [place, copy] of remembered.entries())
        if (written.failed.has(place)) await this.#noteKnown(offer, copy, written.failed.get(place));
      return false;
    }
    for (const copy of its) copy.isDone = true;
    if (stored.nonce === undefined && !(await this.#recordLook.confirmFirstRecord(session, stored))) {
      const isTakenBack = await this.#parts.records.takeBack(session);
      for (const copy of its) if (isTakenBack) passOnPlaced(copy, session);
      return true;
    }
    const connected = new SessionSnapshot(session, stored.attachment);
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
      const { stored, waiting } = offer;
      if (stored === undefined) break;
      let isKnown = false;
      for (const copy of offer.copies.filter(({ name }) => waiting.includes(name))) {
        const { offered, deduplication } = copy;
        const appended = await this.#parts.log.append(session, stored, offered, this.#limits, deduplication);
        if ('known' in appended) {
          await this.#noteKnown(offer, copy, appended.known);
          isKnown = true;
          continue;
        }
        isStored ||= appended.isStored;
        names.add(copy.name);
        copy.isDone = true;
        if (appended.dropped === 0) continue;
        this.#dropped += appended.dropped;
        offered.delivery.dropped = (offered.delivery.dropped ?? 0) + appended.dropped;
      }
      if (!isKnown) break;
      offer.stored = await this.#parts.records.read(session);
      await this.#take(offer);
      isStored ||= offer.isLookDue;
    }
    if (isStored) await this.#look(offer, names);
  }

  /**
   * An earlier fan-out has placed the copy, in this session or with another member of the share group. In the latter
   * case that member's record decides.
   */
  async #noteKnown(offer: SessionOffer, copy: OfferedCopy, deduplication: Item | undefined): Promise<void> {
    const { log, records } = this.#parts;
    copy.wasPlaced = true;
    const holder = holderOf(deduplication, offer.session);
    if (holder === undefined) {
      copy.isInLog = await log.has(offer.session, copy.offered);
      return;
    }
    copy.isDone = true;
    const isInLog = await log.has(holder, copy.offered);
    const stored = await records.read(holder);
    await this.#take(this.#offerTo(holder, [{ ...copy, isInLog, isDone: false }], stored));
  }

  /**
   * The session is over: its copies go to other members of their share groups, unless an earlier fan-out has placed
   * them. That one passes its copy on itself, unless it died after its append.
   */
  async #refuse({ session, copies }: SessionOffer): Promise<void> {
    for (const copy of copies.filter(({ isDone }) => !isDone)) {
      copy.isDone = true;
      if (!copy.wasPlaced) passOn(copy.offered.delivery);
      else if (copy.isInLog && (await this.#parts.log.delete(session, copy.name)))
        passOnPlaced(copy, session);
    }
  }

  /**
   * Looks at the record after an append. If the session is over, its copies go to other members of their share groups.
   */
  async #look({ session, copies }: SessionOffer, names: ReadonlySet<string>): Promise<void> {
    if ((await this.#recordLook.look(session, [...names])) === 'seen') return;
    for (const copy of copies)
      if (names.has(copy.name) && (await this.#parts.log.delete(session, copy.name)))
        passOnPlaced(copy, session);
  }
}

/** Names an incarnation: between two matches of one event a client may have come back with another one. */
function nameOf({ key, incarnation }: SessionRef): string {
  return `${key}\0${incarnation}`;
}

function entriesTaken({ effects }: Decision): Entry[] {
  return effects.flatMap((effect) => (effect.type === 'publish' ? effect.entry : []));
}
