import { describe, expect, it } from 'vitest';
import { RoomTruth, WatcherLedger } from './presence-ledger.ts';

/** ann is there with 1, and bob has left. */
function room() {
  const truth = new RoomTruth();
  truth.connected('a', 'ann');
  truth.says('a', '1');
  truth.connected('b', 'bob');
  truth.says('b', '1');
  truth.says('b', '');
  return { truth, watcher: new WatcherLedger('w', truth) };
}

const kinds = (problems: readonly { readonly what: string }[]) =>
  problems.map(({ what }) => what.split(':', 1)[0]);

describe('a watcher of a room', () => {
  it('is content with the members that are there', () => {
    const { watcher } = room();
    watcher.told('ann', '1');
    watcher.told('bob', '1');
    watcher.told('bob', '');
    expect([...watcher.problems, ...watcher.differences]).toEqual([]);
  });

  it('sees a ghost, a missing member, and data that are over', () => {
    const { truth, watcher } = room();
    watcher.told('bob', '1');
    expect(kinds(watcher.differences)).toEqual(['ghost', 'absent']);
    watcher.told('bob', '');
    watcher.told('ann', '1');
    truth.says('a', '2');
    expect(kinds(watcher.differences)).toEqual(['stale']);
  });

  it('takes a client that has ended for gone, and a member with another client for there', () => {
    const { truth, watcher } = room();
    truth.connected('a2', 'ann');
    truth.says('a2', '2');
    truth.ended('a', 'ann');
    watcher.told('ann', '2');
    expect(watcher.differences).toEqual([]);
    truth.ended('a2', 'ann');
    expect(kinds(watcher.differences)).toEqual(['ghost']);
  });

  it('is told of no leave of a client that was there all the time', () => {
    const { watcher } = room();
    watcher.told('ann', '1');
    watcher.told('ann', '');
    expect(kinds(watcher.problems)).toEqual(['false leave']);
  });

  it('is told once of each that leaves when nothing goes wrong', () => {
    const { truth, watcher } = room();
    watcher.told('ann', '1');
    watcher.counts();
    truth.ended('a', 'ann');
    expect(kinds(watcher.leavesOf(['ann']))).toEqual(['leave']);
    watcher.told('ann', '');
    expect(watcher.leavesOf(['ann'])).toEqual([]);
    watcher.told('ann', '');
    expect(kinds(watcher.leavesOf(['ann']))).toEqual(['leave']);
  });
});
