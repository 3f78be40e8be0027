import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Engine, Membership, ValkeyDelays } from '../../src/store/index.ts';

const program = engineOrSkip();

describe('the times of delayed messages', needs('engine', program), () => {
  let delays: ValkeyDelays;

  beforeEach(async () => {
    const process = await startEngine(program, ['--appendonly', 'no']);
    onTestFinished(() => process.stop());
    const engine = await Engine.connect({ url: process.url });
    onTestFinished(() => engine.close());
    const membership = new Membership(engine, 'only');
    await membership.join();
    delays = new ValkeyDelays(engine, membership);
  });

  it('are taken in order until they are done', async () => {
    for (const key of ['a', 'b', 'c']) await delays.set(key, 0);
    const { due = [] } = (await delays.take(2)) ?? {};
    expect(due.map(({ key }) => key)).toEqual(['a', 'b']);
    for (const each of due) await delays.done(each);
    expect((await delays.take(2))?.due).toMatchObject([{ key: 'c' }]);
  });

  it('stay where they have been set again since they were taken', async () => {
    await delays.set('a', 0);
    // A process looks for the message and does not find it; then its publisher has stored it.
    const [taken] = (await delays.take(1))?.due ?? [];
    await delays.set('a', 0);
    if (taken !== undefined) await delays.done(taken);
    const [again] = (await delays.take(1))?.due ?? [];
    expect(again).toMatchObject({ key: 'a' });
    if (again !== undefined) await delays.done(again);
    expect((await delays.take(1))?.due).toEqual([]);
  });
});
