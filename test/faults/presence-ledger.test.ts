import { describe, expect, it } from 'vitest';
import { RoomTruth, TOLD_WITHIN_MS, WatcherLedger } from './presence-ledger.ts';

/** ann is present with 1, and bob has left. */
function room() {
  const world = { now: 0, open: new Set(['a', 'b', 'a2']) };
  const truth = new RoomTruth({ nowMs: () => world.now, isOpen: (client) => world.open.has(client) });
  truth.connected('a', 'ann');
  truth.says('a', '1');
  truth.connected('b', 'bob');
  truth.says('b', '1');
  truth.says('b', '');
  return { world, truth, watcher: new WatcherLedger('w', truth) };
}

/** ann has left once, and returned. */
function roomOf() {
  const all = room();
  all.watcher.listens();
  all.truth.ended('a', 'ann');
  all.truth.connected('a', 'ann');
  all.truth.says('a', '1');
  return all;
}

const kinds = (problems: readonly { readonly what: string }[]) =>
  problems.map(({ what }) => what.split(':', 1)[0]);

describe('a watcher of a room', () => {
  it('is right with the present members', () => {
    const { watcher } = room();
    watcher.told('ann', '1');
    watcher.told('bob', '1');
    watcher.told('bob', '');
    expect([...watcher.problems, ...watcher.differences]).toEqual([]);
  });

  it('is reported for a ghost, a missing member, and outdated data', () => {
    const { truth, watcher } = room();
    watcher.told('bob', '1');
    expect(kinds(watcher.differences)).toEqual(['ghost', 'absent']);
    watcher.told('bob', '');
    watcher.told('ann', '1');
    truth.says('a', '2');
    expect(kinds(watcher.differences)).toEqual(['stale']);
  });

  it('takes a client that has ended for absent, and a member with another client for present', () => {
    const { truth, watcher } = room();
    truth.connected('a2', 'ann');
    truth.says('a2', '2');
    truth.ended('a', 'ann');
    watcher.told('ann', '2');
    expect(watcher.differences).toEqual([]);
    truth.ended('a2', 'ann');
    expect(kinds(watcher.differences)).toEqual(['ghost']);
  });

  it('must not be told that a client left which was present all the time', () => {
    const { watcher } = room();
    watcher.told('ann', '1');
    watcher.told('ann', '');
    expect(kinds(watcher.problems)).toEqual(['false leave']);
  });

  it('must not be told that a member left which has returned for longer than a leave is on its way', () => {
    const { world, truth, watcher } = room();
    watcher.listens();
    truth.ended('a', 'ann');
    truth.connected('a', 'ann');
    truth.says('a', '2');
    world.now = TOLD_WITHIN_MS - 1;
    watcher.told('ann', '');
    expect(watcher.problems).toEqual([]);
    world.now = TOLD_WITHIN_MS;
    watcher.told('ann', '');
    expect(kinds(watcher.problems)).toEqual(['false leave']);
  });

  it.each<readonly [string, (room: ReturnType<typeof roomOf>) => void]>([
    ['the gateway has its connection no more', ({ world }) => world.open.delete('a')],
    ['it is lost, and may be resumed', ({ truth }) => truth.lost('a')],
    [
      'it has been resumed just now',
      ({ truth }) => {
        truth.lost('a');
        truth.resumed('a');
      },
    ],
    ['it has published an empty payload', ({ truth }) => truth.asks('a', 'ann', '')],
    ['the watcher has just come, and the leave has waited for it', ({ watcher }) => watcher.listens()],
  ])('may be told of the leave of a member where %s', (_, happens) => {
    const { world, truth, watcher } = roomOf();
    world.now = TOLD_WITHIN_MS;
    happens({ world, truth, watcher });
    watcher.told('ann', '');
    expect(watcher.problems).toEqual([]);
  });

  it('may be told of a leave that was requested before its client resumed its session', () => {
    const { world, truth, watcher } = roomOf();
    truth.asks('a', 'ann', '');
    truth.lost('a');
    truth.resumed('a');
    truth.says('a', '');
    watcher.told('ann', '1');
    world.now += TOLD_WITHIN_MS;
    watcher.told('ann', '');
    expect(watcher.problems).toEqual([]);
    // One that has come back since may not.
    truth.asks('a', 'ann', '2');
    truth.says('a', '2');
    truth.lost('a');
    truth.resumed('a');
    watcher.told('ann', '2');
    world.now += TOLD_WITHIN_MS;
    watcher.told('ann', '');
    expect(kinds(watcher.problems)).toEqual(['false leave']);
  });

  it('is told once of each leave after the faults', () => {
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
