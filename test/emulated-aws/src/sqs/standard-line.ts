import type { Random } from '@apus/emulator/service';
import type { Line, Verdict } from './line.ts';
import type { MessageState, QueuedMessage } from './message.ts';

/** A standard queue promises no order: the seed picks each message among all that are there. */
export class StandardLine implements Line {
  readonly #random: Random;
  readonly #available: QueuedMessage[] = [];
  readonly #places = new Map<QueuedMessage, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  get hasAvailable(): boolean {
    return this.#available.length > 0;
  }

  add(message: QueuedMessage): void {
    if (message.state === 'available') this.#place(message, this.#available.length);
  }

  changed(message: QueuedMessage, before: MessageState): void {
    if (before === 'available') this.#takeOut(message);
    this.add(message);
  }

  remove(message: QueuedMessage, before: MessageState): void {
    if (before === 'available') this.#takeOut(message);
  }

  choose(messagesMax: number, judge: (message: QueuedMessage) => Verdict): QueuedMessage[] {
    const chosen: QueuedMessage[] = [];
    // The picked messages are behind `left`, where a removal leaves the others in place.
    let left = this.#available.length;
    while (left > 0 && chosen.length < messagesMax) {
      const message = this.#available[this.#random.integer(left)];
      if (message === undefined) break;
      left -= 1;
      this.#swap(message, left);
      const verdict = judge(message);
      if (verdict === 'stop') break;
      if (verdict === 'take') chosen.push(message);
    }
    return chosen;
  }

  #takeOut(message: QueuedMessage): void {
    this.#swap(message, this.#available.length - 1);
    this.#available.pop();
    this.#places.delete(message);
  }

  #swap(message: QueuedMessage, place: number): void {
    const other = this.#available[place];
    const from = this.#places.get(message);
    if (other === undefined || from === undefined) return;
    this.#place(other, from);
    this.#place(message, place);
  }

  #place(message: QueuedMessage, place: number): void {
    this.#available[place] = message;
    this.#places.set(message, place);
  }
}
