import type { LoggedMessage } from '../../engine/types.ts';
import { decodeValue } from '../decode/decode.ts';
import { QUERIED_CHARACTERS_MAX } from './message-filter.ts';
import type { Found, SlowQuery } from './query-matcher.ts';
import searchWorkerUrl from './search-worker.ts?worker&url';

export { searchWorkerUrl };

/** How long the worker may be silent about the messages that it was given. */
export const SEARCH_DEADLINE_MS = 2_000;

/** A page that was busy at the deadline handles the answer first, which may have come meanwhile. */
const GRACE_MS = 100;

/** Messages at which the deadline may pass; then the search stops, as most messages are probably alike. */
export const SLOW_MESSAGES_MAX = 3;

/** The part of a worker that is used. */
export type SearchWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/**
 * Searches messages in a worker, which is ended when it takes too long: neither an expression nor a payload stops the
 * page. Answers one call at a time.
 */
export class MessageSearch {
  readonly #query: SlowQuery;
  readonly #open: () => SearchWorker;
  #worker: SearchWorker | undefined;
  #isReady = false;
  #slow = 0;
  #abandon: (() => void) | undefined;

  constructor(query: SlowQuery, open: () => SearchWorker = openWorker) {
    this.#query = query;
    this.#open = open;
  }

  /** Whether it has given up. */
  get isStopped(): boolean {
    return this.#slow >= SLOW_MESSAGES_MAX;
  }

  /** For each message whether it fits; undefined where that took too long. */
  async test(messages: readonly LoggedMessage[]): Promise<readonly Found[]> {
    if (messages.length === 0) return [];
    if (this.isStopped) return messages.map(() => undefined);
    const items = messages.map((message) => this.#itemOf(message));
    const found = await this.#ask(items);
    if (found !== undefined) return found;
    // One of them is slow: which one shows when each is searched by itself.
    const each: Found[] = [];
    for (const item of items) {
      const [one] = (this.isStopped ? undefined : await this.#ask([item])) ?? [];
      each.push(one);
    }
    return each;
  }

  /** Ends the worker. Another test opens a new one. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#isReady = false;
    this.#abandon?.();
  }

  #itemOf(message: LoggedMessage): unknown {
    if (this.#query.kind === 'regex') return message.text(QUERIED_CHARACTERS_MAX);
    return decodeValue(message.payload, QUERIED_CHARACTERS_MAX, message.topic);
  }

  #ask(items: readonly unknown[]): Promise<readonly Found[] | undefined> {
    return new Promise((resolve) => {
      const worker = this.#workerOf();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = (found: readonly Found[] | undefined): void => {
        clearTimeout(timer);
        this.#abandon = undefined;
        resolve(found);
      };
      this.#abandon = () => end(undefined);
      const fail = (): void => {
        if (items.length === 1) this.#slow += 1;
        this.close();
      };
      const ask = (): void => {
        this.#isReady = true;
        timer = setTimeout(() => {
          timer = setTimeout(fail, GRACE_MS);
        }, SEARCH_DEADLINE_MS);
        try {
          worker.postMessage(items);
        } catch {
          // Something that cannot be copied.
          end(items.map(() => undefined));
        }
      };
      worker.onmessage = ({ data }: MessageEvent<true | readonly Found[]>) =>
        data === true ? ask() : end(data);
      // The server of its script is gone.
      worker.onerror = () => {
        this.#slow = SLOW_MESSAGES_MAX;
        this.close();
      };
      if (this.#isReady) ask();
    });
  }

  #workerOf(): SearchWorker {
    if (this.#worker !== undefined) return this.#worker;
    this.#worker = this.#open();
    this.#worker.postMessage(this.#query);
    return this.#worker;
  }
}

function openWorker(): SearchWorker {
  return new Worker(searchWorkerUrl, { type: 'module', name: 'apus-search' });
}
