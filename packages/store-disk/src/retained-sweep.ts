import { type Clock, isExpired } from '@apus/broker';
import type { MemoryRetained } from '@apus/store-memory';
import { retainedCodec } from './codec.ts';
import type { JournalContent } from './journal.ts';
import { Kind } from './keys.ts';
import { SWEEP_LENGTH } from './limits.ts';
import { retainedIn } from './retained.ts';
import type { Writer } from './writer.ts';

/**
 * Deletes expired retained messages from the disk. The memory forgets them when a filter finds them; this walks over
 * all of them, again and again, a few steps for each new message with an expiry.
 */
export class RetainedSweep {
  readonly #content: JournalContent;
  readonly #memory: MemoryRetained;
  readonly #writer: Writer;
  readonly #clock: Clock;
  #from: string = Kind.Retained;

  constructor(content: JournalContent, memory: MemoryRetained, writer: Writer, clock: Clock) {
    this.#content = content;
    this.#memory = memory;
    this.#writer = writer;
    this.#clock = clock;
  }

  step(): void {
    let left = SWEEP_LENGTH;
    for (const [key, bytes] of this.#content.scan(Kind.Retained, this.#from)) {
      if (left === 0) {
        this.#from = key;
        return;
      }
      left -= 1;
      this.#look(key, bytes);
    }
    this.#from = Kind.Retained;
  }

  #look(key: string, bytes: Uint8Array): void {
    const { tenant, message } = retainedCodec.decode(bytes);
    if (!isExpired(message, this.#clock.now())) return;
    // The message on the disk may be about to be replaced.
    const current = retainedIn(this.#memory, tenant, message.topic);
    if (current === undefined || current.id === message.id) this.#writer.remove(key);
  }
}
