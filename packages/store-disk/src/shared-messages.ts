import type { Message } from '@apus/broker';
import { messageCodec } from './codec.ts';
import { sharedMessageKey } from './keys.ts';
import type { Writer } from './writer.ts';

interface Shared {
  readonly number: number;
  references: number;
}

/** Messages for more than one session: each is stored once, and removed with the last reference. */
export class SharedMessages {
  readonly #writer: Writer;
  readonly #nextNumber: () => number;
  readonly #shared = new Map<Message, Shared>();

  constructor(writer: Writer, nextNumber: () => number) {
    this.#writer = writer;
    this.#nextNumber = nextNumber;
  }

  /** Adds a reference. Returns the number under which the message is stored. */
  refer(message: Message): number {
    const existing = this.#shared.get(message);
    if (existing !== undefined) {
      existing.references += 1;
      return existing.number;
    }
    const number = this.#nextNumber();
    this.#shared.set(message, { number, references: 1 });
    this.#writer.put(sharedMessageKey(number), messageCodec.encode(message));
    return number;
  }

  release(message: Message): void {
    const shared = this.#shared.get(message);
    if (shared === undefined) return;
    shared.references -= 1;
    if (shared.references > 0) return;
    this.#shared.delete(message);
    this.#writer.remove(sharedMessageKey(shared.number));
  }

  /** A reference that was found on the disk. */
  restore(message: Message, number: number): void {
    const shared = this.#shared.get(message);
    if (shared === undefined) this.#shared.set(message, { number, references: 1 });
    else shared.references += 1;
  }

  /** Removes the message: all its references have been removed. */
  removeUnreferred(message: Message, number: number): void {
    if (!this.#shared.has(message)) this.#writer.remove(sharedMessageKey(number));
  }
}
