import { inflightCodec, type StoredInflight } from './codec.ts';
import type { JournalContent } from './journal.ts';
import { Kind } from './keys.ts';

/** The marks of inflight messages in the order of their keys. */
export class StoredMarks {
  readonly #content: JournalContent;
  readonly #marks: Iterator<readonly [string, Uint8Array]>;
  #next: IteratorResult<readonly [string, Uint8Array]>;

  constructor(content: JournalContent) {
    this.#content = content;
    this.#marks = content.scan(Kind.Inflight)[Symbol.iterator]();
    this.#next = this.#marks.next();
  }

  /**
   * The marks that come before the message with this key, and so belong to no message; without a key all that are
   * left.
   */
  *before(queuedKey: string | undefined): Generator<readonly [string, StoredInflight]> {
    while (!this.#next.done) {
      const [key, bytes] = this.#next.value;
      if (queuedKey !== undefined && key.slice(1) >= queuedKey.slice(1)) return;
      this.#next = this.#marks.next();
      yield [key, this.#decode(key, bytes)];
    }
  }

  of(queuedKey: string): StoredInflight | undefined {
    if (this.#next.done) return undefined;
    const [key, bytes] = this.#next.value;
    if (key.slice(1) !== queuedKey.slice(1)) return undefined;
    this.#next = this.#marks.next();
    return this.#decode(key, bytes);
  }

  #decode(key: string, bytes: Uint8Array): StoredInflight {
    try {
      return inflightCodec.decode(bytes);
    } catch (error) {
      throw this.#content.damage(`the record ${key}`, error);
    }
  }
}
