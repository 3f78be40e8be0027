import { expect, it } from 'vitest';
import { subscribe } from '../../../../test/support/text-client.ts';
import { Kill, TimersWorld } from '../support/timers-world.ts';

/** Does something else at the nth step of a process, which goes on then. */
class Interruption extends Kill {
  readonly #at: number;
  readonly #happens: () => Promise<void>;
  hasHappened = false;

  constructor(at: number, happens: () => Promise<void>) {
    super();
    this.#at = at;
    this.#happens = happens;
  }

  override async step(): Promise<void> {
    this.steps += 1;
    if (this.steps < this.#at || this.hasHappened) return;
    this.hasHappened = true;
    await this.#happens();
  }
}

/** The subscribers that stand in the heads of filters. */
async function subscribersIn(world: TimersWorld): Promise<number> {
  const heads = (await world.items()).filter(({ p }) => p?.S?.startsWith('F\0'));
  return heads.flatMap((head) => Object.keys(head).filter((name) => name.startsWith('@'))).length;
}

it.each([0, 1, 2])(
  'a connection that ends at any step of its SUBSCRIBE leaves no subscription (retain handling %i)',
  async (rh) => {
    let at = 0;
    for (let hasHappened = true; hasHappened; ) {
      at += 1;
      const world = await TimersWorld.create();
      await world.connect('c');
      const kill = new Interruption(at, () => world.disconnect('c'));
      await world.frame(world.process({ kill }), 'c', subscribe('news', { qos: 1, rh }));
      ({ hasHappened } = kill);
      expect({ at, left: await subscribersIn(world) }).toEqual({ at, left: hasHappened ? 0 : 1 });
    }
    expect(at).toBeGreaterThan(8);
  },
);
