/** Numbers of sessions, messages, places in queues and wills. They ascend, and none is assigned twice. */
export class Numbers {
  #last: number;

  /** @param last the first number is one above it */
  constructor(last = 0) {
    this.#last = last;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Notes a number that is in use. */
  observe(number: number): void {
    this.#last = Math.max(this.#last, number);
  }
}
