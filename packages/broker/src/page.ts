import type { Message } from './message.ts';
import type { PageLimit } from './ports/page.ts';

/** What a message counts towards a limit in bytes. */
export function messageBytes({ topic, payload }: Message): number {
  return Buffer.byteLength(topic) + payload.length;
}

/** A page while a store fills it. */
export class Page<T> {
  readonly entries: T[] = [];
  readonly #limit: PageLimit;
  #bytes = 0;

  constructor(limit: PageLimit) {
    this.#limit = limit;
  }

  /** Messages that may still come, as far as their number goes. */
  get messagesLeft(): number {
    return Math.max(this.entries.length === 0 ? 1 : 0, this.#limit.messages - this.entries.length);
  }

  /** A first entry always has: a page is never empty for being small. */
  hasRoom(bytes: number): boolean {
    if (this.entries.length === 0) return true;
    return this.entries.length < this.#limit.messages && this.#bytes + bytes <= this.#limit.bytes;
  }

  add(entry: T, bytes: number): void {
    this.entries.push(entry);
    this.#bytes += bytes;
  }
}
