import { describe, expect, it } from 'vitest';
import { DiskError } from '../src/errors.ts';
import { GroupWriter } from '../src/group-writer.ts';
import { BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, PENDING_BYTES_MAX } from '../src/limits.ts';
import type { Operations } from '../src/writer.ts';

/** A disk whose commits end when the test says so. */
class SlowDisk {
  readonly commits: { keys: string[]; done: () => void; fail: (error: Error) => void }[] = [];
  readonly failures: Error[] = [];
  readonly writer = new GroupWriter(
    (operations) => this.#commit(operations),
    (error) => void this.failures.push(error),
  );

  put(key: string, bytes = 1): void {
    this.writer.put(key, Buffer.alloc(bytes));
  }

  /** Ends the commit that is under way, or about to begin. */
  async done(): Promise<void> {
    await turn();
    this.commits.at(-1)?.done();
    await turn();
  }

  #commit(operations: Operations): Promise<void> {
    return new Promise((done, fail) => void this.commits.push({ keys: [...operations.keys()], done, fail }));
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('group commit', () => {
  it('commits the writes of one turn together, and later writes after it', async () => {
    const disk = new SlowDisk();
    disk.put('a');
    disk.put('b');
    await turn();
    disk.put('c');
    disk.put('d');
    await turn();
    expect(disk.commits.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    await disk.done();
    expect(disk.commits.map(({ keys }) => keys)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('answers when the batch is committed, in the order of the calls', async () => {
    const disk = new SlowDisk();
    const answers: string[] = [];
    const wait = (name: string) =>
      void Promise.resolve(disk.writer.durable(name)).then((each) => answers.push(each));
    disk.put('a');
    wait('first');
    wait('second');
    await turn();
    disk.put('b');
    wait('third');
    await turn();
    expect(answers).toEqual([]);
    await disk.done();
    expect(answers).toEqual(['first', 'second']);
    await disk.done();
    expect(answers).toEqual(['first', 'second', 'third']);
  });

  it('answers at once when nothing is on its way', async () => {
    const disk = new SlowDisk();
    expect(disk.writer.durable('value')).toBe('value');
    disk.put('a');
    expect(disk.writer.durable('value')).toBeInstanceOf(Promise);
    await disk.done();
    expect(disk.writer.durable('value')).toBe('value');
  });

  it('writes a key once that was changed twice in one batch', async () => {
    const disk = new SlowDisk();
    disk.put('a');
    disk.writer.remove('a');
    disk.put('b');
    await turn();
    expect(disk.commits[0]?.keys).toEqual(['a', 'b']);
  });

  it('knows what is durable', async () => {
    const disk = new SlowDisk();
    disk.put('a');
    const { position } = disk.writer;
    await turn();
    disk.put('b');
    expect(disk.writer.isDurable(position)).toBe(false);
    await disk.done();
    expect(disk.writer.isDurable(position)).toBe(true);
    expect(disk.writer.isDurable(disk.writer.position)).toBe(false);
  });
});

describe('limits', () => {
  it(`puts ${BATCH_OPERATIONS_MAX} operations into a batch, and no more`, async () => {
    const disk = new SlowDisk();
    for (let index = 0; index <= BATCH_OPERATIONS_MAX; index += 1) disk.put(`key-${index}`);
    await disk.done();
    expect(disk.commits.map(({ keys }) => keys.length)).toEqual([BATCH_OPERATIONS_MAX, 1]);
  });

  it(`begins another batch after ${BATCH_BYTES_MAX} bytes`, async () => {
    const disk = new SlowDisk();
    disk.put('a', BATCH_BYTES_MAX);
    disk.put('b');
    await disk.done();
    expect(disk.commits.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
  });

  it(`makes callers wait that are promised nothing, once ${PENDING_BYTES_MAX} bytes wait`, async () => {
    const disk = new SlowDisk();
    disk.put('a');
    expect(disk.writer.accepted('value')).toBe('value');
    disk.put('b', PENDING_BYTES_MAX);
    const late = disk.writer.accepted('value');
    expect(late).toBeInstanceOf(Promise);
    await disk.done();
    expect(await late).toBe('value');
    expect(disk.writer.accepted('value')).toBe('value');
  });
});

describe('a commit that fails', () => {
  const failing = async () => {
    const disk = new SlowDisk();
    disk.put('a');
    const first = disk.writer.durable('first');
    await turn();
    disk.put('b');
    const second = disk.writer.durable('second');
    const outcomes = Promise.allSettled([first, second]);
    disk.commits[0]?.fail(new Error('No space left on device'));
    return { disk, outcomes: await outcomes };
  };

  it('fails all that wait, says why, and is told once', async () => {
    const { disk, outcomes } = await failing();
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(disk.failures).toHaveLength(1);
    expect(disk.failures[0]).toBeInstanceOf(DiskError);
    expect(disk.failures[0]?.message).toContain('No space left on device');
    expect(disk.failures[0]?.cause).toBeInstanceOf(Error);
  });

  it('is followed by nothing: no write, and no promise', async () => {
    const { disk } = await failing();
    expect(() => disk.put('c')).toThrow(DiskError);
    expect(() => disk.writer.durable('value')).toThrow(DiskError);
    await turn();
    expect(disk.commits).toHaveLength(1);
    await disk.writer.close();
  });
});

it('commits everything before it closes, and takes nothing afterwards', async () => {
  const disk = new SlowDisk();
  disk.put('a');
  const closed = disk.writer.close();
  await disk.done();
  await closed;
  expect(disk.commits).toHaveLength(1);
  expect(() => disk.put('b')).toThrow('closed');
});
