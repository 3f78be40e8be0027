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
import { containsWildcard, matches } from '@apus/mqtt';
import { messageCodec } from '@apus/store-disk';
import type { Engine } from './engine.ts';
import { RETAINED_STEP, RETAINED_STEPS_MAX } from './limits.ts';
import { DELETE, PUT, READ } from './retained-scripts.ts';

/** Stands for "no limit" in a script, whose numbers have no infinity. */
const UNLIMITED = 1e300;

/** The last topic of the previous page, in byte order. */
type Cursor = string;

/** Retained messages in the engine, which all processes share. */
export class ValkeyRetained implements RetainedStore {
  readonly #engine: Engine;
  readonly #name: string;
  readonly #counts = new Map<string, number>();

  /** @param name the prefix of its keys */
  constructor(engine: Engine, name = 'retained') {
    this.#engine = engine;
    this.#name = name;
  }

  async put(tenant: string, message: Message, limits: RetainedLimits): Promise<boolean> {
    const { messagesMax, bytesMax, holder } = limits;
    const answer = await this.#engine.run(PUT, this.keys(tenant), [
      tenant,
      message.topic,
      message.id,
      Buffer.from(messageCodec.encode(message)),
      retainedBytes(message),
      holder === undefined ? '' : quotaHolderKey(holder.holder),
      Math.min(messagesMax, UNLIMITED),
      Math.min(bytesMax, UNLIMITED),
      Math.min(holder?.messagesMax ?? UNLIMITED, UNLIMITED),
      Math.min(holder?.bytesMax ?? UNLIMITED, UNLIMITED),
      Math.min(holder?.ofTenant?.messagesMax ?? UNLIMITED, UNLIMITED),
      Math.min(holder?.ofTenant?.bytesMax ?? UNLIMITED, UNLIMITED),
    ]);
    const [isKept, count] = answer as [number, number];
    this.#counts.set(tenant, count);
    return isKept === 1;
  }

  async delete(tenant: string, topicName: string, before: string): Promise<void> {
    const count = await this.#engine.run(DELETE, this.keys(tenant), [tenant, topicName, before]);
    this.#counts.set(tenant, count as number);
  }

  async match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): Promise<RetainedPage> {
    if (!containsWildcard(topicFilter)) {
      const found = from === undefined ? await this.#read(tenant, [topicFilter], nowMs, limit) : [];
      return { messages: found.filter((each) => each !== undefined), next: undefined };
    }
    const page = new Page<Message>(limit);
    let cursor: Cursor | undefined = from;
    for (let step = 0; step < RETAINED_STEPS_MAX; step += 1) {
      const topics = await this.#topics(tenant, topicFilter, cursor);
      let matching = topics.filter((topic) => matches(topicFilter, topic));
      while (matching.length > 0) {
        if (page.messagesLeft === 0) return { messages: page.entries, next: cursor };
        const found = await this.#read(tenant, matching.slice(0, page.messagesLeft), nowMs, limit);
        for (const message of found) {
          if (message === undefined) continue;
          const bytes = messageBytes(message);
          if (!page.hasRoom(bytes)) return { messages: page.entries, next: cursor };
          page.add(message, bytes);
          cursor = message.topic;
        }
        matching = matching.slice(found.length);
      }
      if (topics.length < RETAINED_STEP) return { messages: page.entries, next: undefined };
      cursor = topics.at(-1);
    }
    return { messages: page.entries, next: cursor };
  }

  /** The number after the last change by this process. */
  count(tenant: string): number {
    return this.#counts.get(tenant) ?? 0;
  }

  /** Counts of the tenants that this process has changed. */
  countAll(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Returns none: all processes share the messages, so each would count them for the usage of tenants. */
  tenants(): readonly string[] {
    return [];
  }

  bytes(_tenant: string): number {
    return 0;
  }

  /** The next topics that begin like the filter up to its first wildcard. */
  async #topics(tenant: string, topicFilter: string, after: Cursor | undefined): Promise<string[]> {
    const prefix = topicFilter.slice(0, topicFilter.search(/\/?[+#]/));
    const start = after === undefined ? `[${prefix}` : `(${after}`;
    const end = Buffer.concat([Buffer.from(`[${prefix}`), Buffer.from([0xff])]);
    const topicsKey = this.keys(tenant)[1] ?? '';
    return await this.#engine.client.zrangebylex(topicsKey, start, end, 'LIMIT', 0, RETAINED_STEP);
  }

  /** The messages of the first topics, as far as they have room, and at least of one. Undefined: none is retained. */
  async #read(
    tenant: string,
    topics: readonly string[],
    nowMs: number,
    { bytes }: PageLimit,
  ): Promise<(Message | undefined)[]> {
    const answer = await this.#engine.run(READ, this.keys(tenant), [Math.min(bytes, UNLIMITED), ...topics]);
    return (answer as (Buffer | null)[]).map((record) => {
      if (record === null) return undefined;
      const message = messageCodec.decode(record);
      if (!isExpired(message, nowMs)) return message;
      void this.delete(tenant, message.topic, message.id).catch(() => {});
      return undefined;
    });
  }

  keys(tenant: string): string[] {
    return ['message', 'topics', 'meta', 'counts'].map((part) => this.#engine.key(this.#name, part, tenant));
  }
}
