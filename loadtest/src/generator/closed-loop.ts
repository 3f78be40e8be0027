/**
 * Keeps a fixed number of messages of one client in flight: the next one is sent when one has come back. The broker
 * gets as much load as it can handle and no more, so no queue grows, and the run measures the broker itself.
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

  /** Messages in flight may still come; no new ones follow. */
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
