/** The number of samples for a rate, and the time between them: two seconds together. */
const SAMPLES = 4;
const SPACING_MS = 500;

/** How fast a total grows. */
export class Rate {
  readonly #samples: { readonly total: number; readonly atMs: number }[] = [];

  /**
   * May be called at any rate. It is never computed over less than the spacing, so that one message right after the
   * beginning is no burst.
   *
   * @returns how much the total has grown each second recently
   */
  sample(total: number, atMs: number): number {
    const last = this.#samples.at(-1);
    if (last === undefined || atMs - last.atMs >= SPACING_MS) this.#samples.push({ total, atMs });
    if (this.#samples.length > SAMPLES + 1) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined) return 0;
    return ((total - first.total) * 1_000) / Math.max(SPACING_MS, atMs - first.atMs);
  }
}
