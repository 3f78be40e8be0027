/** Samples that a rate is taken over; at two samples a second, two seconds. */
const SAMPLES = 4;

/** How fast a total grows. */
export class Rate {
  readonly #samples: { readonly total: number; readonly atMs: number }[] = [];

  /** @returns by how much a second the total has grown of late */
  sample(total: number, atMs: number): number {
    this.#samples.push({ total, atMs });
    if (this.#samples.length > SAMPLES + 1) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined || atMs <= first.atMs) return 0;
    return ((total - first.total) * 1_000) / (atMs - first.atMs);
  }
}
