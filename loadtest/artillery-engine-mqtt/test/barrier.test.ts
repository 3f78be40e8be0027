import { BroadcastChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { Barriers } from '../src/barrier.ts';

const MINUTE_MS = 60_000;

/** The barriers of a worker; all workers of a test share the channel of one Artillery process. */
function workers(name: string, count: number): Barriers[] {
  return Array.from({ length: count }, (_, thread) => {
    const barriers = new Barriers(new BroadcastChannel(name), thread + 1);
    onTestFinished(() => barriers.close());
    return barriers;
  });
}

/** The other workers have received the earlier messages: messages are in order, and so is the answer to this one. */
async function heard(name: string): Promise<void> {
  const [listener, speaker] = [new BroadcastChannel(name), new BroadcastChannel(name)];
  const came = new Promise((resolve) => {
    listener.onmessage = resolve;
  });
  speaker.postMessage({ thread: -1, arrived: new Map(), gone: 0, goneAfter: new Map(), isQuestion: false });
  await came;
  listener.close();
  speaker.close();
}

it.each(['gate', 'constructor'])('users of several workers meet at one barrier, %s', async (name) => {
  const [one, other] = workers('meet', 2);
  const first = one?.wait(name, 3, MINUTE_MS);
  const second = other?.wait(name, 3, MINUTE_MS);
  let isOpen = false;
  void first?.then(() => {
    isOpen = true;
  });
  await heard('meet');
  expect(isOpen).toBe(false);
  void other?.wait(name, 3, MINUTE_MS);
  expect(await Promise.all([first, second])).toEqual([true, true]);
});

it('a worker that begins late learns of users that came before', async () => {
  const [early] = workers('late', 1);
  const waiting = early?.wait('gate', 2, MINUTE_MS);
  const late = new Barriers(new BroadcastChannel('late'), 9);
  onTestFinished(() => late.close());
  expect(await late.wait('gate', 2, MINUTE_MS)).toBe(true);
  expect(await waiting).toBe(true);
});

it('a user that has failed counts once, whether or not it had come', async () => {
  const [only] = workers('gone', 1);
  void only?.wait('gate', 3, MINUTE_MS);
  // This one had come: it is counted already.
  only?.userGone(['gate']);
  let isOpen = false;
  const waiting = only?.wait('gate', 3, MINUTE_MS).then(() => {
    isOpen = true;
  });
  await new Promise(setImmediate);
  expect(isOpen).toBe(false);
  only?.userGone([]);
  await waiting;
  expect(isOpen).toBe(true);
});

it('barriers with other names are separate', async () => {
  const [only] = workers('names', 1);
  void only?.wait('one', 2, MINUTE_MS);
  expect(await only?.wait('other', 2, 10)).toBe(false);
});
