import { createHash } from 'node:crypto';
import { type Clock, steadyNow } from '@apus/broker';
import { matches } from '@apus/mqtt';

export interface AnswerCacheOptions {
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly entriesPerClientMax: number;
  /** Answers for all clients together. */
  readonly entriesMax: number;
}

/** Longer keys are kept as their hash: topics may have 64 KB. */
const KEY_LENGTH_MAX = 256;

interface Entry {
  readonly isAllowed: boolean;
  readonly endsAtMs: number;
  /** The filter of a subscription. */
  readonly topicFilter: string | undefined;
}

/**
 * The cached answers of a hook. Each client has a few entries, so a client that publishes to ever new topics evicts
 * only its own. Among clients, the one that asked longest ago is evicted first.
 */
export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  readonly #clients = new Map<string, Map<string, Entry>>();
  #entries = 0;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries;
  }

  get(client: string, question: string): boolean | undefined {
    const clientKey = keyOf(client);
    const answers = this.#clients.get(clientKey);
    const key = keyOf(question);
    const entry = answers?.get(key);
    if (answers === undefined || entry === undefined) return undefined;
    if (entry.endsAtMs <= steadyNow(this.#options.clock)) return undefined;
    touch(this.#clients, clientKey, answers);
    touch(answers, key, entry);
    return entry.isAllowed;
  }

  /** Whether the client has been allowed a filter that matches the topic name. */
  hasFilterFor(client: string, topicName: string): boolean {
    const nowMs = steadyNow(this.#options.clock);
    for (const { isAllowed, endsAtMs, topicFilter } of this.#clients.get(keyOf(client))?.values() ?? []) {
      if (!isAllowed || topicFilter === undefined || endsAtMs <= nowMs) continue;
      if (matches(topicFilter, topicName)) return true;
    }
    return false;
  }

  /** `topicFilter` is set if the question concerns a subscription. */
  set(client: string, question: string, isAllowed: boolean, topicFilter?: string): void {
    const { clock, ttlMs, entriesPerClientMax, entriesMax } = this.#options;
    const clientKey = keyOf(client);
    const answers = this.#clients.get(clientKey) ?? new Map<string, Entry>();
    const key = keyOf(question);
    if (!answers.has(key)) this.#entries += 1;
    const isKept = topicFilter !== undefined && topicFilter.length <= KEY_LENGTH_MAX;
    touch(answers, key, {
      isAllowed,
      endsAtMs: steadyNow(clock) + ttlMs,
      topicFilter: isKept ? topicFilter : undefined,
    });
    if (answers.size > entriesPerClientMax && dropOldest(answers) !== undefined) this.#entries -= 1;
    touch(this.#clients, clientKey, answers);
    while (this.#entries > entriesMax) this.#entries -= dropOldest(this.#clients)?.size ?? this.#entries;
  }
}

/** Moves it to the end: a Map keeps the order of insertion. */
function touch<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
}

function dropOldest<T>(map: Map<string, T>): T | undefined {
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}

function keyOf(text: string): string {
  return text.length <= KEY_LENGTH_MAX ? text : createHash('sha256').update(text).digest('base64');
}
