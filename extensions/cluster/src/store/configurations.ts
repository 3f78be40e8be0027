import type { Engine } from './engine.ts';
import type { Membership } from './membership.ts';

/** The options of each process that should be the same for all. They are deleted with their process. */
export class Configurations {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /**
   * Returns the options of the other processes, by process name. If two start at the same time, at least one sees the
   * other.
   */
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
