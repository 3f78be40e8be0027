import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RoomWatcher } from './room-watcher.ts';

/** A watcher whose SUBSCRIBEs the test answers. */
function watcherByHand() {
  const answers: ((code: number | undefined) => void)[] = [];
  const link = { isConnected: true };
  const forgets = vi.fn();
  const watcher = new RoomWatcher({
    ledger: { forgets },
    subscribe: async () => await new Promise((resolve) => answers.push(resolve)),
    isConnected: () => link.isConnected,
  });
  const answer = async (code: number | undefined) => {
    answers.at(-1)?.(code);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { watcher, answers, answer, link, forgets };
}

describe('a program that watches a room', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('asks for the room once for each session', async () => {
    const { watcher, answers, answer } = watcherByHand();
    watcher.connected(false);
    await answer(1);
    watcher.connected(true);
    expect([watcher.hasBegun, answers.length]).toEqual([true, 1]);
    watcher.connected(false);
    expect([watcher.hasBegun, answers.length]).toEqual([false, 2]);
  });

  it('asks again in a session that is present, where the SUBSCRIBE after a gap had no answer', async () => {
    const { watcher, answers, answer, link, forgets } = watcherByHand();
    watcher.connected(false);
    await answer(1);
    watcher.gap();
    link.isConnected = false;
    await answer(undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([watcher.hasBegun, answers.length]).toEqual([false, 2]);
    link.isConnected = true;
    watcher.connected(true);
    expect([answers.length, forgets.mock.calls.length]).toEqual([3, 3]);
    await answer(1);
    expect(watcher.hasBegun).toBe(true);
  });

  it('asks once more after a gap that comes while it asks', async () => {
    const { watcher, answers, answer } = watcherByHand();
    watcher.connected(false);
    watcher.gap();
    expect(answers).toHaveLength(1);
    await answer(1);
    expect([watcher.hasBegun, answers.length]).toEqual([false, 2]);
  });

  it('tries a refused SUBSCRIBE again', async () => {
    const { watcher, answers, answer } = watcherByHand();
    watcher.connected(false);
    await answer(0x97);
    await vi.advanceTimersByTimeAsync(500);
    expect(answers).toHaveLength(2);
  });
});
