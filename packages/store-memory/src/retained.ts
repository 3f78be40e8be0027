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
  tenantOfHolderKey,
} from '@apus/broker';
import { matches, TopicTree } from '@apus/mqtt';
import { MemoryBudget, retainedMemoryBytes } from './memory-budget.ts';
import { NumberedLog } from './numbered-log.ts';

/**
 * Up to this many matches the tree finds them again for each page. A filter with more matches is answered from the
 * log, in one pass over it for all pages: in neither case does the work grow with the square of the matches.
 */
const MATCHES_FROM_TREE_MAX = 2048;

/** Nodes of the tree that a page looks at, at most: a filter with more is answered from the log as well. */
const NODES_LOOKED_AT_MAX = 16_384;

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
    const created = new RetainedOfTenant(tenant, this.#budget);
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

/** What a filter leads to in the tree, and how many nodes were looked at. */
interface Found {
  readonly entries: readonly RetainedEntry[] | undefined;
  readonly nodes: number;
}

const IN_LOG: Found = { entries: undefined, nodes: 0 };

/** Counts of one holder. */
interface Kept {
  messages: number;
  bytes: number;
}

/** The retained message of one topic. */
interface RetainedEntry {
  /** Ascending in the order in which topics were first retained. It stays while the topic is retained. */
  readonly number: number;
  /** Undefined once it has been removed. */
  message: Message | undefined;
  /** `quotaHolderKey` of the client that published it. */
  holder: string | undefined;
}

class RetainedOfTenant {
  readonly #tree = new TopicTree<RetainedEntry>();
  readonly #log = new NumberedLog<RetainedEntry>(({ message }) => message === undefined);
  #lastNumber = 0;
  readonly #budget: MemoryBudget;
  readonly #tenant: string;
  /** By `quotaHolderKey`, and by other tenants of holders; without holders of nothing. */
  readonly #byHolder = new Map<string, Kept>();
  #bytes = 0;

  constructor(tenant: string, budget: MemoryBudget) {
    this.#tenant = tenant;
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
    const { entries, nodes } = from.isInLog ? IN_LOG : this.#fromTree(topicFilter, from.number);
    const expired: Message[] = [];
    const page = new Page<Message>(limit);
    const cursor = { number: from.number, isInLog: entries === undefined };
    const lookedAtMax = Math.max(1, (limit.lookedAt ?? Number.POSITIVE_INFINITY) - nodes);
    let lookedAt = 0;
    let next: string | undefined;
    for (const { message, number } of entries ?? this.#log.after(from.number)) {
      if (lookedAt >= lookedAtMax) {
        next = formatCursor(cursor);
        break;
      }
      lookedAt += 1;
      if (message === undefined) continue;
      if (entries !== undefined || matches(topicFilter, message.topic)) {
        const bytes = messageBytes(message);
        if (isExpired(message, nowMs)) expired.push(message);
        else if (page.hasRoom(bytes)) page.add(message, bytes);
        else {
          next = formatCursor(cursor);
          break;
        }
      }
      cursor.number = number;
    }
    for (const { topic, id } of expired) this.delete(topic, id);
    return { messages: page.entries, next, lookedAt: lookedAt + nodes };
  }

  /** Without entries: there are too many, or too many nodes lead to them. */
  #fromTree(topicFilter: string, from: number): Found {
    const entries: RetainedEntry[] = [];
    let [nodes, count] = [0, 0];
    for (const entry of this.#tree.walk(topicFilter)) {
      nodes += 1;
      if (entry !== undefined) count += 1;
      if (nodes > NODES_LOOKED_AT_MAX || count > MATCHES_FROM_TREE_MAX) return { entries: undefined, nodes };
      if (entry !== undefined && entry.number > from) entries.push(entry);
    }
    return { entries: entries.sort((one, other) => one.number - other.number), nodes };
  }

  #add(message: Message, limits: RetainedLimits): boolean {
    const bytes = retainedBytes(message);
    if (this.#tree.size >= limits.messagesMax || !this.#hasRoom(bytes, limits)) return false;
    if (!this.#hasHolderRoom(message, undefined, limits)) return false;
    this.#lastNumber += 1;
    const entry = this.#log.append({ number: this.#lastNumber, message, holder: holderKeyOf(limits) });
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
  #hasHolderRoom(message: Message, replaced: RetainedEntry | undefined, limits: RetainedLimits): boolean {
    const { holder } = limits;
    if (holder === undefined) return true;
    const [key = '', tenantKey] = this.#keysOf(quotaHolderKey(holder.holder));
    if (!this.#hasShare(message, replaced, key, holder)) return false;
    const { ofTenant } = holder;
    if (tenantKey === undefined || ofTenant === undefined) return true;
    return this.#hasShare(message, replaced, tenantKey, {
      messagesMax: Math.min(ofTenant.messagesMax, limits.messagesMax - this.size),
      bytesMax: Math.min(ofTenant.bytesMax, limits.bytesMax - this.#bytes),
    });
  }

  #hasShare(
    message: Message,
    replaced: RetainedEntry | undefined,
    key: string,
    { messagesMax, bytesMax }: Pick<RetainedLimits, 'messagesMax' | 'bytesMax'>,
  ): boolean {
    const isOwn = replaced?.holder !== undefined && this.#keysOf(replaced.holder).includes(key);
    const own = isOwn ? replaced.message : undefined;
    const bytes = retainedBytes(message) - (own === undefined ? 0 : retainedBytes(own));
    const kept = this.#byHolder.get(key) ?? { messages: 0, bytes: 0 };
    if (own === undefined && kept.messages >= messagesMax) return false;
    return bytes <= 0 || kept.bytes + bytes <= bytesMax;
  }

  /** What a message of this holder counts for: the holder, and its tenant if it is not that of the store. */
  #keysOf(holder: string): readonly string[] {
    const tenant = tenantOfHolderKey(holder);
    return tenant === this.#tenant ? [holder] : [holder, tenant];
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
    for (const key of holder === undefined ? [] : this.#keysOf(holder)) {
      const kept = this.#byHolder.get(key) ?? { messages: 0, bytes: 0 };
      kept.messages += sign;
      kept.bytes += bytes;
      if (kept.messages === 0) this.#byHolder.delete(key);
      else this.#byHolder.set(key, kept);
    }
  }

  #remove(entry: RetainedEntry, topicName: string): void {
    this.#uncount(entry);
    this.#tree.delete(topicName);
    entry.message = undefined;
    this.#log.removed();
  }
}

function holderKeyOf({ holder }: RetainedLimits): string | undefined {
  return holder && quotaHolderKey(holder.holder);
}
