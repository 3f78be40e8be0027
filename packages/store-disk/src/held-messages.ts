import type { Message } from '@apus/broker';
import { HeldMessage, type Holding, type MemoryBudget } from '@apus/store-memory';
import type { LiveSession } from './durable-sessions.ts';

/** The messages in the queues of durable sessions. Each counts once, however many queues have it. */
export class HeldMessages {
  readonly #budget: MemoryBudget;
  readonly #held = new Map<Message, HeldMessage>();

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Whether the queues of the session's identity have room for it. */
  fits(message: Message, { tenant, state: { holding, identity } }: LiveSession): boolean {
    const held = this.#held.get(message) ?? new HeldMessage(this.#budget, message, tenant);
    return held.fits(holding, this.#budget.queuedBytesMax(identity));
  }

  hold(message: Message, tenant: string, holding: Holding): void {
    let held = this.#held.get(message);
    if (held === undefined) {
      held = new HeldMessage(this.#budget, message, tenant);
      this.#held.set(message, held);
    }
    held.hold(holding);
  }

  release(message: Message, holding: Holding): void {
    const held = this.#held.get(message);
    held?.release(holding);
    if (held?.isHeld === false) this.#held.delete(message);
  }
}
