import type { QueuedMessage } from './message.ts';

/**
 * Marks the first messages of a FIFO queue. SQS looks for free groups among them only: a group whose backlog fills
 * this window hides every group behind it.
 */
export class Lookahead {
  readonly #messagesMax: number;
  readonly #onEnter: (message: QueuedMessage) => void;
  readonly #order = new Set<QueuedMessage>();
  /** Follows while messages are added and removed, as iterators of a Set do. */
  readonly #beyond = this.#order.values();
  #within = 0;

  constructor(messagesMax: number, onEnter: (message: QueuedMessage) => void) {
    this.#messagesMax = messagesMax;
    this.#onEnter = onEnter;
  }

  add(message: QueuedMessage): void {
    this.#order.add(message);
    this.#fill();
  }

  remove(message: QueuedMessage): void {
    if (!this.#order.delete(message) || !message.withinLookahead) return;
    message.withinLookahead = false;
    this.#within -= 1;
    this.#fill();
  }

  #fill(): void {
    // An iterator that has reached its end would stay there: it is used only while messages are left.
    while (this.#within < this.#messagesMax && this.#order.size > this.#within) {
      const { value: message } = this.#beyond.next();
      if (message === undefined) return;
      message.withinLookahead = true;
      this.#within += 1;
      this.#onEnter(message);
    }
  }
}
