/** Samples that a rate is taken over, and how far apart they are: two seconds. */
const SAMPLES = 4;
const SPACING_MS = 500;

/** How fast a total grows. */
export class Rate {
  readonly #samples: { readonly total: number; readonly atMs: number }[] = [];

  /**
   * May be asked as often as one likes. It is never taken over less than the spacing, so that one message right after
   * the beginning is no burst.
   *
   * @returns by how much a second the total has grown of late
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
