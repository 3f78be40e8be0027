/** Counts what is under way, for tests that wait until nothing is. */
export class Activity {
  #underWay = 0;
  #waiting: (() => void)[] = [];

  /** Marks a beginning; what it returns marks the end. */
  begin(): () => void {
    this.#underWay += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#announce();
    };
  }

  /** Resolves when nothing is under way. */
  async quiet(): Promise<void> {
    // What one step ends, its continuation may begin again: look twice, a turn of the event loop apart.
    do {
      if (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await new Promise(setImmediate);
    } while (this.#underWay > 0);
  }

  #announce(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
