import type { MessageId } from '@apus/broker';
import type { Waiting } from '@apus/node';

const NOTHING: Waiting = { messages: 0, bytes: 0 };

/**
 * How much each publisher has in the queue of a rule [SEC-POOL-5]. Messages of an earlier process, which a data directory
 * has kept, belong to none.
 */
export class QueueShares {
  /** In the order of the queue. */
  readonly #messages = new Map<MessageId, { readonly holder: string; readonly bytes: number }>();
  readonly #holders = new Map<string, Waiting>();

  get size(): number {
    return this.#messages.size;
  }

  /** Publishers with messages in the queue. The messages of the broker itself are of '', and have no share. */
  get holders(): Iterable<string> {
    return this.#holders.keys();
  }

  of(holder: string): Waiting {
    return this.#holders.get(holder) ?? NOTHING;
  }

  add(id: MessageId, holder: string, bytes: number): void {
    if (this.#messages.has(id)) return;
    this.#messages.set(id, { holder, bytes });
    this.#change(holder, 1, bytes);
  }

  /** The message is the next of the queue. Those before it were dropped or have expired. */
  leave(id: MessageId): void {
    if (!this.#messages.has(id)) return;
    for (const first of this.#messages.keys()) {
      this.dropFirst();
      if (first === id) return;
    }
  }

  dropFirst(): void {
    for (const [id, { holder, bytes }] of this.#messages) {
      this.#messages.delete(id);
      this.#change(holder, -1, -bytes);
      return;
    }
  }

  clear(): void {
    this.#messages.clear();
    this.#holders.clear();
  }

  #change(holder: string, messages: number, bytes: number): void {
    const before = this.of(holder);
    const after = { messages: before.messages + messages, bytes: before.bytes + bytes };
    if (after.messages === 0) this.#holders.delete(holder);
    else this.#holders.set(holder, after);
  }
}
