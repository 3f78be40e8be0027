/** Counts the work in progress, for tests that wait until there is none. */
export class Activity {
  #underWay = 0;
  #waiting: (() => void)[] = [];

  /** Marks a beginning; the returned function marks the end. */
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
    // The continuation of a step that has ended may begin another: look twice, a turn of the event loop apart.
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
