import { expulsionOf } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../../../test/support/gate.ts';
import { Enforcement, PARALLEL_EXPULSIONS_MAX } from '../src/operator/enforcement.ts';
import { PARALLEL_REMEDIES_MAX } from '../src/sweep/sweep.ts';
import { TimersWorld } from './support/timers-world.ts';

/** More than are handled side by side. */
const COUNT = 12;

let world: TimersWorld;
let connectionIds: readonly string[];
beforeEach(async () => {
  world = await TimersWorld.create();
  connectionIds = Array.from({ length: COUNT }, (_, index) => `c${index}`);
});

/** How many connections are being closed when `count` of them are, and nothing else goes on; then they are closed. */
async function closedTogether(count: number, work: () => Promise<unknown>): Promise<number> {
  const [reached, closed] = [gate(), gate()];
  world.gateway.closes = async () => {
    if (world.gateway.deleted.length === count) reached.open();
    await closed.opened;
    return true;
  };
  const done = work();
  await reached.opened;
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  const together = world.gateway.deleted.length;
  closed.open();
  await done;
  return together;
}

describe('work of unknown number is done side by side, some at a time', () => {
  it('by the sweep, at what it finds', async () => {
    const { links } = world.process().cloud.stores;
    const identity = { tenant: 'default', name: 'somebody' };
    for (const id of connectionIds) await links.save(id, { phase: 'new', identity });
    world.time.nowMs += 60_001;
    expect(await closedTogether(PARALLEL_REMEDIES_MAX, () => world.sweep())).toBe(PARALLEL_REMEDIES_MAX);
    expect([...world.gateway.deleted].sort()).toEqual([...connectionIds].sort());
  });

  it('by the operator’s function, at the clients that a ban names', async () => {
    for (const id of connectionIds) await world.connect(id);
    const { environment, stores } = world.process().cloud;
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const enforcement = new Enforcement({ environment, scan: stores.sweepScan, log });
    const ban = { as: 'username', who: '', tenant: 'default', by: '', reason: '', atMs: 0 } as const;
    const search = () =>
      enforcement.search(
        () => true,
        expulsionOf(ban),
        () => true,
      );
    expect(await closedTogether(PARALLEL_EXPULSIONS_MAX, search)).toBe(PARALLEL_EXPULSIONS_MAX);
    expect(new Set(world.gateway.deleted)).toEqual(new Set(connectionIds));
  });

  it('and the sweep begins nothing more when its time is over', async () => {
    const { links } = world.process().cloud.stores;
    const identity = { tenant: 'default', name: 'somebody' };
    for (const id of connectionIds) await links.save(id, { phase: 'new', identity });
    world.time.nowMs += 60_001;
    let asked = 0;
    const remainingMs = () => {
      asked += 1;
      return asked <= 4 ? 60_000 : 4_000;
    };
    await world.sweep(world.process(), remainingMs);
    expect(world.gateway.deleted.length).toBeLessThan(COUNT);
    await world.sweep();
    expect(new Set(world.gateway.deleted)).toEqual(new Set(connectionIds));
  });
});
