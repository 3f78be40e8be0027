/** Numbers of sessions, messages, places in queues and wills alike: none is given twice, and they ascend. */
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

  /** A number that is in use. */
  observe(number: number): void {
    this.#last = Math.max(this.#last, number);
  }
}
