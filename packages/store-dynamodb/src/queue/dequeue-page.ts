import { ENTRIES_MAX } from '../limits.ts';
import { bodyAfterPubrec } from './acknowledge-entries.ts';
import { isPlaced } from './completed.ts';
import { namesDequeued, placesTaken, withEntry } from './entries.ts';
import { isUncertain } from './offer-copies.ts';
import type { Decision, Dequeue, Effect, Entry, LogItem, QueueRecord } from './types.ts';

/**
 * Dequeues a page: decides which packets the reply to a frame brings, and how the record stands afterwards. In this
 * order:
 *
 * 1. PUBRELs that are due.
 * 2. Messages that have to be sent again, oldest first, under their packet ids.
 * 3. New messages of the log, if nothing of 2 is left and no publisher may still post.
 * 4. If messages are left, the mode is backlog and the reply says that more waits. Otherwise the mode is closing: see
 *    {@link conclude}.
 */
export function dequeuePage(record: QueueRecord, dequeue: Dequeue): Decision {
  const page = new DequeuedPage(record, dequeue);
  page.sendPubrels();
  page.sendAgain();
  page.sendNew();
  return { record: conclude(page.record, dequeue, page), effects: page.effects };
}

/**
 * The record cannot know that the log is empty: an append does not change the record's version.
 *
 *     frame                              publisher
 *     reads the record, and the log: empty
 *                                        reads: backlog; appends, looks: backlog, and the client fetches: done
 *     closing; the second look finds the message
 *
 * A publisher that looks at the record after it is `closing` objects, and the mode becomes backlog again. The mode
 * becomes direct only when an acknowledgement has proved that the page has arrived: a message that a publisher posts
 * before that would overtake the reply.
 */
function conclude(record: QueueRecord, { firstOfReply }: Dequeue, page: DequeuedPage): QueueRecord {
  if (page.isSomethingLeft) return fetching(record);
  return { ...record, mode: 'closing', isFetching: false, awaits: firstOfReply || page.firstPacketId };
}

/**
 * A fetch that dequeues nothing writes nothing: by the time of the last write the sweep tells whether a queue moves.
 */
function fetching(record: QueueRecord): QueueRecord {
  const { mode, isFetching, awaits } = record;
  if (mode === 'backlog' && isFetching && awaits === 0) return record;
  return { ...record, mode: 'backlog', isFetching: true, awaits: 0 };
}

/** A page while it is filled, and the record with the changes that the page makes. */
class DequeuedPage {
  record: QueueRecord;
  readonly effects: Effect[] = [];
  readonly #dequeue: Dequeue;
  readonly #inLog: ReadonlySet<string>;
  readonly #lastRead: string | undefined;
  #packets = 0;
  #bytes = 0;
  #isPubrelLeft = false;
  #isUnsentLeft = false;
  #isNewLeft = false;
  firstPacketId = 0;

  constructor(record: QueueRecord, dequeue: Dequeue) {
    this.record = record;
    this.#dequeue = dequeue;
    this.#inLog = new Set(dequeue.log.items.map(({ name }) => name));
    this.#lastRead = dequeue.log.items.at(-1)?.name;
  }

  get isSomethingLeft(): boolean {
    return this.#isPubrelLeft || this.#isUnsentLeft || this.#isNewLeft;
  }

  sendPubrels(): void {
    for (const entry of this.record.entries) if (entry.phase === 'pubrel-due') this.#sendPubrel(entry);
  }

  sendAgain(): void {
    for (const entry of this.record.entries) if (entry.phase === 'unsent') this.#sendEntryAgain(entry);
  }

  /**
   * While a publisher that took a place may still post, a message of the log would overtake that post, so the page
   * sends no new message. The publisher may have died, so the page waits no longer than a handler lives.
   */
  sendNew(): void {
    const { log, nowMs } = this.#dequeue;
    const dequeued = namesDequeued(this.record);
    const items = log.items.filter(({ name }) => !dequeued.has(name));
    const mayDequeue = !this.#isUnsentLeft && !isPostAwaited(this.record, nowMs);
    const isAllSent = mayDequeue ? items.every((item) => this.#sendItem(item)) : items.length === 0;
    this.#isNewLeft = !isAllSent || !log.isComplete;
  }

  #sendPubrel(entry: Entry): void {
    if (!this.#hasRoom(0)) {
      this.#isPubrelLeft = true;
      return;
    }
    this.effects.push({ type: 'pubrel', packetId: entry.packetId });
    this.#packets += 1;
    this.#replace(entry, { ...entry, phase: 'pubrel-sent', isCounted: false, body: bodyAfterPubrec(entry) });
  }

  #sendEntryAgain(entry: Entry): void {
    const { log } = this.#dequeue;
    if (entry.body === 'log' && !this.#inLog.has(entry.name)) {
      const isUnread = !log.isComplete && !(this.#lastRead !== undefined && entry.name <= this.#lastRead);
      if (isUnread) this.#isUnsentLeft = true;
      else this.#withoutBody(entry);
      return;
    }
    if (this.#isUnsentLeft || !this.#hasRoom(entry.bytes) || this.#isWindowFull) {
      this.#isUnsentLeft = true;
      return;
    }
    this.#publish(this.#replace(entry, { ...entry, kind: 'page', phase: 'sent', isCounted: true }), true);
  }

  /**
   * The item is gone: the message was acknowledged and the write of the record failed, or a full queue has dropped it.
   */
  #withoutBody(entry: Entry): void {
    if (entry.qos === 2) {
      this.#sendPubrel(entry);
      return;
    }
    this.record = { ...this.record, entries: this.record.entries.filter((each) => each !== entry) };
  }

  /** False where the message has to wait; then all messages after it wait too. */
  #sendItem({ name, qos, bytes, expiresAtMs, wasPlaced = false }: LogItem): boolean {
    const hasExpired = expiresAtMs !== undefined && expiresAtMs <= this.#dequeue.nowMs;
    if (hasExpired || (qos === 2 && isPlaced(this.record, name, wasPlaced))) {
      this.effects.push({ type: 'delete', name });
      return true;
    }
    if (!this.#hasRoom(bytes) || this.#isWindowFull || this.record.entries.length >= ENTRIES_MAX)
      return false;
    const place = { kind: 'page', phase: 'sent', isCounted: true } as const;
    const { record, entry } = withEntry(this.record, { name, qos, ...place, body: 'log', bytes });
    this.record = record;
    this.#publish(entry, false);
    return true;
  }

  #publish(entry: Entry, isDup: boolean): void {
    this.effects.push({ type: 'publish', entry, isDup });
    this.#packets += 1;
    this.#bytes += entry.bytes;
    this.firstPacketId ||= entry.packetId;
  }

  #replace(old: Entry, by: Entry): Entry {
    this.record = {
      ...this.record,
      entries: this.record.entries.map((entry) => (entry === old ? by : entry)),
    };
    return by;
  }

  get #isWindowFull(): boolean {
    return placesTaken(this.record) >= this.record.receiveMaximum;
  }

  #hasRoom(bytes: number): boolean {
    const { limit, firstOfReply } = this.#dequeue;
    if (this.#packets >= limit.messages) return false;
    const isFirst = this.#packets === 0 && firstOfReply === 0;
    return isFirst || this.#bytes + bytes <= limit.bytes;
  }
}

function isPostAwaited({ entries, untilMs }: QueueRecord, nowMs: number): boolean {
  return nowMs < untilMs && entries.some(isUncertain);
}
