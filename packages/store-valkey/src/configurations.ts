import type { Engine } from './engine.ts';
import type { Membership } from './membership.ts';

/** The options that all processes should have alike, of each process. They are forgotten with their process. */
export class Configurations {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /** Answers those of the other processes, by their names. Of two that start at the same time one at least sees the other. */
  async tell(configuration: string): Promise<ReadonlyMap<string, string>> {
    const { me } = this.#membership;
    await this.#engine.client.set(this.#engine.key('configuration', me), configuration);
    const others = (await this.#membership.all()).filter((process) => process !== me);
    const found = new Map<string, string>();
    if (others.length === 0) return found;
    const values = await this.#engine.client.mget(
      others.map((each) => this.#engine.key('configuration', each)),
    );
    for (const [index, process] of others.entries()) {
      const value = values[index];
      if (value !== null && value !== undefined) found.set(process, value);
    }
    return found;
  }
}
