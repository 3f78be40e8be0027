/**
 * Keeps so many messages of one client under way: the next leaves when one has come back. A broker is loaded as much as
 * it can bear and no more, so nothing piles up, and the run measures the broker and not a queue before it.
 */
export class ClosedLoop {
  readonly #window: number;
  readonly #send: () => void;
  #isRunning = false;
  #underWay = 0;

  constructor(window: number, send: () => void) {
    this.#window = window;
    this.#send = send;
  }

  begin(): void {
    this.#isRunning = true;
    this.#fill();
  }

  /** Messages under way may still come; no new ones follow. */
  end(): void {
    this.#isRunning = false;
  }

  /** One of the client's own messages has come back. */
  cameBack(): void {
    // A duplicate does not widen the window.
    this.#underWay = Math.max(0, this.#underWay - 1);
    this.#fill();
  }

  #fill(): void {
    while (this.#isRunning && this.#underWay < this.#window) {
      this.#underWay += 1;
      this.#send();
    }
  }
}
