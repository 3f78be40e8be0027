import type { Message } from '@apus/broker';
import { HeldMessage, type MemoryBudget } from '@apus/store-memory';

/** Which messages the queues of durable sessions hold in memory: each counts once, however many do. */
export class HeldMessages {
  readonly #budget: MemoryBudget;
  readonly #held = new Map<Message, HeldMessage>();

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  hold(message: Message, tenant: string): void {
    let held = this.#held.get(message);
    if (held === undefined) {
      held = new HeldMessage(this.#budget, message, tenant);
      this.#held.set(message, held);
    }
    held.hold();
  }

  release(message: Message): void {
    const held = this.#held.get(message);
    held?.release();
    if (held?.isHeld === false) this.#held.delete(message);
  }
}
