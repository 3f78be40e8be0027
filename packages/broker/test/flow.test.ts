import { type Awaitable, type Flow, run, waitFor } from '@apus/broker';
import { describe, expect, it } from 'vitest';

/** A port that answers from memory, or over the network. */
const answers = [
  { how: 'at once', answer: <T>(value: T): Awaitable<T> => value },
  { how: 'later', answer: <T>(value: T): Awaitable<T> => Promise.resolve(value) },
];

describe('a flow whose ports answer at once', () => {
  it('is finished when `run` returns, and its result is no promise', () => {
    const steps: string[] = [];
    function* flow(): Flow<string> {
      steps.push(yield* waitFor('first'));
      steps.push(yield* waitFor('second'));
      return 'result';
    }
    expect(run(flow())).toBe('result');
    expect(steps).toEqual(['first', 'second']);
  });

  it('does not begin before it is run', () => {
    let hasBegun = false;
    // biome-ignore lint/correctness/useYield: it has nothing to wait for
    function* flow(): Flow<void> {
      hasBegun = true;
    }
    const waiting = flow();
    expect(hasBegun).toBe(false);
    run(waiting);
    expect(hasBegun).toBe(true);
  });

  it('throws what it throws to the caller of `run`', () => {
    function* flow(): Flow<void> {
      yield* waitFor(undefined);
      throw new Error('a bug');
    }
    expect(() => run(flow())).toThrow('a bug');
  });

  it('has undefined, null and functions for answers too', () => {
    const answer = () => {};
    function* flow(): Flow<unknown[]> {
      return [yield* waitFor(undefined), yield* waitFor(null), yield* waitFor(answer)];
    }
    expect(run(flow())).toEqual([undefined, null, answer]);
  });

  it('costs no turn of the event loop, however long it is', () => {
    function* count(to: number): Flow<number> {
      let sum = 0;
      for (let step = 0; step < to; step += 1) sum += yield* waitFor(1);
      return sum;
    }
    expect(run(count(100_000))).toBe(100_000);
  });
});

describe('a flow that waits', () => {
  it('answers with a promise and gets its answers in order', async () => {
    const steps: string[] = [];
    function* flow(): Flow<number> {
      steps.push(yield* waitFor(Promise.resolve('late')));
      steps.push(yield* waitFor('at once'));
      steps.push(yield* waitFor(new Promise<string>((resolve) => setImmediate(() => resolve('later')))));
      return steps.length;
    }
    const result = run(flow());
    expect(result).toBeInstanceOf(Promise);
    expect(steps).toEqual([]);
    expect(await result).toBe(3);
    expect(steps).toEqual(['late', 'at once', 'later']);
  });

  it('has done all that comes before its first wait when `run` returns', async () => {
    const steps: string[] = [];
    function* flow(): Flow<void> {
      steps.push('before');
      yield* waitFor(Promise.resolve());
      steps.push('after');
    }
    const result = run(flow());
    expect(steps).toEqual(['before']);
    await result;
    expect(steps).toEqual(['before', 'after']);
  });

  it('rejects with what it throws after waiting', async () => {
    function* flow(): Flow<void> {
      yield* waitFor(Promise.resolve());
      throw new Error('a bug');
    }
    await expect(run(flow())).rejects.toThrow('a bug');
  });

  it('rejects with what a port rejects with', async () => {
    const cause = new Error('the network');
    function* flow(): Flow<void> {
      yield* waitFor(Promise.reject(cause));
    }
    await expect(run(flow())).rejects.toBe(cause);
  });

  it('leaves other flows their turns', async () => {
    const steps: string[] = [];
    function* flow(name: string): Flow<void> {
      for (const step of [1, 2]) {
        steps.push(`${name}${step}`);
        yield* waitFor(Promise.resolve());
      }
    }
    await Promise.all([run(flow('a')), run(flow('b'))]);
    expect(steps).toEqual(['a1', 'b1', 'a2', 'b2']);
  });
});

describe.each(answers)('a flow whose ports answer $how', ({ answer }) => {
  it('gives and takes values through the flows it is made of', async () => {
    function* double(value: number): Flow<number> {
      return 2 * (yield* waitFor(answer(value)));
    }
    function* flow(): Flow<number> {
      return (yield* double(1)) + (yield* double(20));
    }
    expect(await run(flow())).toBe(42);
  });

  it('runs `finally` when all went well', async () => {
    const steps: string[] = [];
    function* flow(): Flow<void> {
      try {
        steps.push(yield* waitFor(answer('work')));
      } finally {
        steps.push(yield* waitFor(answer('cleaned up')));
      }
    }
    await run(flow());
    expect(steps).toEqual(['work', 'cleaned up']);
  });

  it('runs `finally` when something was thrown, and throws it on', async () => {
    const steps: string[] = [];
    function* inner(): Flow<void> {
      try {
        yield* waitFor(answer('work'));
        throw new Error('a bug');
      } finally {
        steps.push(yield* waitFor(answer('inner')));
      }
    }
    function* outer(): Flow<void> {
      try {
        yield* inner();
      } finally {
        steps.push('outer');
      }
    }
    await expect((async () => await run(outer()))()).rejects.toThrow('a bug');
    expect(steps).toEqual(['inner', 'outer']);
  });

  it('can catch what a part of it throws, and goes on', async () => {
    function* part(): Flow<string> {
      yield* waitFor(answer('work'));
      throw new Error('refused');
    }
    function* flow(): Flow<string> {
      try {
        return yield* part();
      } catch (error) {
        return `${yield* waitFor(answer('caught'))}: ${(error as Error).message}`;
      }
    }
    expect(await run(flow())).toBe('caught: refused');
  });
});

describe('a port that fails', () => {
  it('is caught where it was called, whether it throws or rejects', async () => {
    const ports = [
      () => {
        throw new Error('no answer');
      },
      () => Promise.reject(new Error('no answer')),
      () => new Promise<never>((_, reject) => setImmediate(() => reject(new Error('no answer')))),
    ];
    function* flow(port: () => Awaitable<string>): Flow<string> {
      try {
        return yield* waitFor(port());
      } catch (error) {
        return (error as Error).message;
      }
    }
    for (const port of ports) expect(await run(flow(port))).toBe('no answer');
  });

  it('that rejects lets the flow run its `finally`', async () => {
    const steps: string[] = [];
    function* flow(): Flow<void> {
      try {
        yield* waitFor(Promise.reject(new Error('no answer')));
        steps.push('not reached');
      } finally {
        steps.push('cleaned up');
      }
    }
    await expect(run(flow())).rejects.toThrow('no answer');
    expect(steps).toEqual(['cleaned up']);
  });

  it('may be tried again within the flow', async () => {
    let calls = 0;
    const port = async () => {
      calls += 1;
      if (calls < 3) throw new Error('busy');
      return 'done';
    };
    function* flow(): Flow<string> {
      for (;;) {
        try {
          return yield* waitFor(port());
        } catch {
          // Once more.
        }
      }
    }
    expect(await run(flow())).toBe('done');
    expect(calls).toBe(3);
  });
});
