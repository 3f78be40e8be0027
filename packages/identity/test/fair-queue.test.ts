import { expect, test } from 'vitest';
import { FairQueue } from '../src/index.ts';

/** Tasks that end when the test says so. */
class Tasks {
  readonly started: string[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #queue: FairQueue;

  constructor(atATime: number, waitingMax = 1_000) {
    this.#queue = new FairQueue({ atATime, waitingMax });
  }

  add(name: string, ...lanes: string[]): Promise<string | undefined> {
    return this.#queue.run(lanes, async () => {
      this.started.push(name);
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      return name;
    });
  }

  /** Ends the running tasks, and those that start then, until there are none. */
  async endAll(): Promise<string[]> {
    for (let end = this.#ends.shift(); end !== undefined; end = this.#ends.shift()) {
      end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.started;
  }
}

test('at most the allowed number of tasks run at a time', async () => {
  const tasks = new Tasks(2);
  for (const name of ['a', 'b', 'c']) void tasks.add(name, name);
  expect(tasks.started).toEqual(['a', 'b']);
  expect(await tasks.endAll()).toEqual(['a', 'b', 'c']);
});

test('the latest task is next if lanes had equally many turns, since the first client may have gone', async () => {
  const tasks = new Tasks(1);
  for (let guess = 0; guess < 150; guess++) void tasks.add(`guess ${guess}`, `name ${guess}`, 'address 1');
  void tasks.add('login', 'name ada', 'address 1');
  await tasks.endAll();
  expect(tasks.started.indexOf('login')).toBe(1);
});

test('a backlog from one address waits behind the first task of another', async () => {
  const tasks = new Tasks(1);
  for (let guess = 0; guess < 150; guess++) void tasks.add(`guess ${guess}`, `name ${guess}`, 'address 1');
  void tasks.add('login', 'name ada', 'address 2');
  await tasks.endAll();
  expect(tasks.started.indexOf('login')).toBe(1);
});

test('a backlog for one name, from many addresses, waits behind the first task for another', async () => {
  const tasks = new Tasks(1);
  for (let guess = 0; guess < 150; guess++) void tasks.add(`guess ${guess}`, 'name eve', `address ${guess}`);
  void tasks.add('login', 'name ada', 'address 1000');
  await tasks.endAll();
  expect(tasks.started.indexOf('login')).toBe(1);
});

test('a full queue refuses a task of the busiest address, and takes one of another', async () => {
  const tasks = new Tasks(1, 3);
  const guesses = [0, 1, 2, 3].map((guess) => tasks.add(`guess ${guess}`, 'address 1'));
  const oneMore = tasks.add('one more', 'address 1');
  const login = tasks.add('login', 'address 2');
  expect(await guesses[1]).toBeUndefined();
  expect(await guesses[2]).toBeUndefined();
  expect(await tasks.endAll()).toEqual(['guess 0', 'login', 'one more', 'guess 3']);
  expect(await oneMore).toBe('one more');
  expect(await login).toBe('login');
});

test('a failed task makes room for the next', async () => {
  const queue = new FairQueue({ atATime: 1, waitingMax: 10 });
  const failing = queue.run(['a'], () => Promise.reject(new Error('no memory')));
  const next = queue.run(['a'], async () => 'done');
  await expect(failing).rejects.toThrow('no memory');
  expect(await next).toBe('done');
});
