import {
  isExpired,
  type Message,
  messageBytes,
  Page,
  type PageLimit,
  quotaHolderKey,
  type RetainedLimits,
  type RetainedPage,
  type RetainedStore,
  retainedBytes,
} from '@apus/broker';
import { matches, TopicTree } from '@apus/mqtt';
import { MemoryBudget, retainedMemoryBytes } from './memory-budget.ts';
import { type RetainedEntry, RetainedLog } from './retained-log.ts';

/**
 * Up to this many matches the tree finds them again for each page. A filter with more matches is answered from the
 * log, in one pass over it for all pages: in neither case does the work grow with the square of the matches.
 */
const MATCHES_FROM_TREE_MAX = 2048;

const EMPTY: RetainedPage = { messages: [], next: undefined };

/** Retained messages in memory: a tree of topic names for each tenant. */
export class MemoryRetained implements RetainedStore {
  readonly #budget: MemoryBudget;
  readonly #tenants = new Map<string, RetainedOfTenant>();

  constructor(budget = new MemoryBudget()) {
    this.#budget = budget;
  }

  put(tenant: string, message: Message, limits: RetainedLimits): boolean {
    const existing = this.#tenants.get(tenant);
    if (existing !== undefined) return existing.put(message, limits);
    const created = new RetainedOfTenant(this.#budget);
    this.#tenants.set(tenant, created);
    return created.put(message, limits);
  }

  delete(tenant: string, topicName: string, before: string): void {
    this.#tenants.get(tenant)?.delete(topicName, before);
  }

  match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): RetainedPage {
    return this.#tenants.get(tenant)?.match(topicFilter, nowMs, parseCursor(from), limit) ?? EMPTY;
  }

  /** Bytes that count towards `RetainedLimits.bytesMax`. */
  bytes(tenant: string): number {
    return this.#tenants.get(tenant)?.bytes ?? 0;
  }

  /** Tenants whose clients have retained messages. A name with `$` stands for a purpose of the broker's own. */
  tenants(): readonly string[] {
    return [...this.#tenants.keys()].filter((tenant) => !tenant.startsWith('$'));
  }

  /** Retained messages of all these tenants. */
  countAll(): number {
    return this.tenants().reduce((count, tenant) => count + this.count(tenant), 0);
  }

  /** How many are retained. An expired one counts until a call finds it expired. */
  count(tenant: string): number {
    return this.#tenants.get(tenant)?.size ?? 0;
  }
}

/** Where a page begins: after the entry with this number. */
interface Cursor {
  readonly number: number;
  /** There were too many matches for the tree. */
  readonly isInLog: boolean;
}

function parseCursor(from: string | undefined): Cursor {
  if (from === undefined) return { number: 0, isInLog: false };
  return { number: Number(from.slice(1)), isInLog: from.startsWith('l') };
}

function formatCursor({ number, isInLog }: Cursor): string {
  return `${isInLog ? 'l' : 't'}${number}`;
}

/** Counts of one holder. */
interface Kept {
  messages: number;
  bytes: number;
}

class RetainedOfTenant {
  readonly #tree = new TopicTree<RetainedEntry>();
  readonly #log = new RetainedLog();
  readonly #budget: MemoryBudget;
  /** By `quotaHolderKey`; without holders of nothing. */
  readonly #byHolder = new Map<string, Kept>();
  #bytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  get size(): number {
    return this.#tree.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  put(message: Message, limits: RetainedLimits): boolean {
    const entry = this.#tree.get(message.topic);
    if (entry?.message === undefined) return this.#add(message, limits);
    if (entry.message.id > message.id) return true;
    const growth = retainedBytes(message) - retainedBytes(entry.message);
    if (growth > 0 && !this.#hasRoom(growth, limits)) return false;
    if (!this.#hasHolderRoom(message, entry, limits)) return false;
    this.#uncount(entry);
    entry.message = message; // [MQTT-3.3.1-5]
    entry.holder = holderKeyOf(limits);
    this.#count(entry);
    return true;
  }

  delete(topicName: string, before: string): void {
    const entry = this.#tree.get(topicName);
    if (entry?.message !== undefined && entry.message.id <= before) this.#remove(entry, topicName);
  }

  /** In the order of the log, in either way. */
  match(topicFilter: string, nowMs: number, from: Cursor, limit: PageLimit): RetainedPage {
    const fromTree = from.isInLog ? undefined : this.#fromTree(topicFilter, from.number);
    const expired: Message[] = [];
    const page = new Page<Message>(limit);
    const cursor = { number: from.number, isInLog: fromTree === undefined };
    let next: string | undefined;
    for (const { message, number } of fromTree ?? this.#fromLog(topicFilter, from.number)) {
      if (message === undefined) continue;
      const bytes = messageBytes(message);
      if (isExpired(message, nowMs)) expired.push(message);
      else if (page.hasRoom(bytes)) page.add(message, bytes);
      else {
        next = formatCursor(cursor);
        break;
      }
      cursor.number = number;
    }
    for (const { topic, id } of expired) this.delete(topic, id);
    return { messages: page.entries, next };
  }

  /** Undefined: there are too many. */
  #fromTree(topicFilter: string, from: number): RetainedEntry[] | undefined {
    const entries: RetainedEntry[] = [];
    let count = 0;
    for (const entry of this.#tree.match(topicFilter)) {
      count += 1;
      if (count > MATCHES_FROM_TREE_MAX) return undefined;
      if (entry.number > from) entries.push(entry);
    }
    return entries.sort((one, other) => one.number - other.number);
  }

  *#fromLog(topicFilter: string, from: number): Generator<RetainedEntry, void, undefined> {
    for (const entry of this.#log.after(from)) {
      if (entry.message !== undefined && matches(topicFilter, entry.message.topic)) yield entry;
    }
  }

  #add(message: Message, limits: RetainedLimits): boolean {
    const bytes = retainedBytes(message);
    if (this.#tree.size >= limits.messagesMax || !this.#hasRoom(bytes, limits)) return false;
    if (!this.#hasHolderRoom(message, undefined, limits)) return false;
    const entry = this.#log.append(message, holderKeyOf(limits));
    this.#count(entry);
    this.#tree.set(message.topic, entry);
    return true;
  }

  #hasRoom(bytes: number, { bytesMax }: RetainedLimits): boolean {
    return this.#bytes + bytes <= bytesMax && !this.#budget.isFull;
  }

  /**
   * Checks the holder's own share [SEC-QUOTA-8]. The replaced message was counted for the same holder, or for another
   * one.
   */
  #hasHolderRoom(message: Message, replaced: RetainedEntry | undefined, { holder }: RetainedLimits): boolean {
    if (holder === undefined) return true;
    const key = quotaHolderKey(holder.holder);
    const own = replaced?.holder === key ? replaced.message : undefined;
    const messages = own === undefined ? 1 : 0;
    const bytes = retainedBytes(message) - (own === undefined ? 0 : retainedBytes(own));
    const kept = this.#byHolder.get(key) ?? { messages: 0, bytes: 0 };
    if (messages > 0 && kept.messages >= holder.messagesMax) return false;
    return bytes <= 0 || kept.bytes + bytes <= holder.bytesMax;
  }

  #count({ message, holder }: RetainedEntry): void {
    if (message !== undefined) this.#change(message, holder, 1);
  }

  #uncount({ message, holder }: RetainedEntry): void {
    if (message !== undefined) this.#change(message, holder, -1);
  }

  #change(message: Message, holder: string | undefined, sign: 1 | -1): void {
    const bytes = sign * retainedBytes(message);
    this.#bytes += bytes;
    this.#budget.change(sign * retainedMemoryBytes(message));
    if (holder === undefined) return;
    const kept = this.#byHolder.get(holder) ?? { messages: 0, bytes: 0 };
    kept.messages += sign;
    kept.bytes += bytes;
    if (kept.messages === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, kept);
  }

  #remove(entry: RetainedEntry, topicName: string): void {
    this.#uncount(entry);
    this.#tree.delete(topicName);
    this.#log.remove(entry);
  }
}

function holderKeyOf({ holder }: RetainedLimits): string | undefined {
  return holder && quotaHolderKey(holder.holder);
}
