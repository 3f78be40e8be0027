import { describe, expect, it } from 'vitest';
import type { Outcome, PublishRequest } from '../../../src/engine/types.ts';
import {
  type ClearOptions,
  type ClearProgress,
  clearRetained,
  topicsToClear,
} from '../../../src/features/tree/clear-retained.ts';
import { CLEARS_OUTSTANDING_MAX } from '../../../src/features/tree/limits.ts';
import { TopicIndex } from '../../../src/features/tree/topic-index.ts';
import { message } from '../message.ts';

const OK: Outcome = { ok: true, reasonCode: 0, trouble: undefined, durationMs: 1 };
const REFUSED: Outcome = { ok: false, reasonCode: 0x87, trouble: undefined, durationMs: 1 };

const AT_LEAST_ONCE: ClearOptions = { qos: 1, receiveMaximum: undefined };

/** A connection whose answers the test gives. */
class Answers {
  readonly requests: PublishRequest[] = [];
  readonly #answers: ((outcome: Outcome) => void)[] = [];

  publish = (request: PublishRequest): Promise<Outcome> => {
    this.requests.push(request);
    return new Promise((resolve) => this.#answers.push(resolve));
  };

  async answer(outcome: Outcome = OK): Promise<void> {
    this.#answers.shift()?.(outcome);
    // The code after an answer runs in promises alone.
    for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
  }
}

const topics = (count: number): string[] => Array.from({ length: count }, (_, index) => `t/${index}`);

describe('which topics are cleared', () => {
  const index = new TopicIndex();
  index.add([
    message('a/b', 'x', { retain: true }),
    message('a', 'x', { retain: true }),
    message('a/c', 'x'),
    message('z', 'x', { retain: true }),
  ]);
  const a = index.get('a');
  if (a === undefined) throw new Error('no a');

  it('those that are known to be retained, or all, at a node and below', () => {
    expect(topicsToClear(a, 'retained')).toEqual(['a', 'a/b']);
    expect(topicsToClear(a, 'all')).toEqual(['a', 'a/b', 'a/c']);
    expect(topicsToClear(index.root, 'retained')).toEqual(['a', 'a/b', 'z']);
  });
});

describe('clearing retained messages', () => {
  it('publishes an empty retained message to each topic and reports every answer', async () => {
    const answers = new Answers();
    const told: ClearProgress[] = [];
    clearRetained(answers, topics(3), AT_LEAST_ONCE, (progress) => told.push(progress));
    expect(answers.requests).toEqual(
      topics(3).map((topic) => ({ topic, payload: new Uint8Array(0), qos: 1, retain: true })),
    );
    for (let count = 0; count < 3; count += 1) await answers.answer();
    expect(told.map(({ cleared, isDone }) => [cleared, isDone])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });

  it('waits for answers once a window is full', async () => {
    const answers = new Answers();
    clearRetained(answers, topics(1_000), AT_LEAST_ONCE, () => {});
    expect(answers.requests).toHaveLength(CLEARS_OUTSTANDING_MAX);
    await answers.answer();
    expect(answers.requests).toHaveLength(CLEARS_OUTSTANDING_MAX + 1);
  });

  it('has no more under way than the server takes', () => {
    const answers = new Answers();
    clearRetained(answers, topics(1_000), { qos: 1, receiveMaximum: 7 }, () => {});
    expect(answers.requests).toHaveLength(7);
  });

  it('goes on after a refusal and keeps the first', async () => {
    const answers = new Answers();
    const told: ClearProgress[] = [];
    clearRetained(answers, topics(3), AT_LEAST_ONCE, (progress) => told.push(progress));
    await answers.answer();
    await answers.answer(REFUSED);
    await answers.answer(REFUSED);
    expect(told.at(-1)).toEqual({
      total: 3,
      cleared: 1,
      failed: 2,
      firstFailure: { topic: 't/1', outcome: REFUSED },
      isDone: true,
    });
  });

  it('ends when it is stopped, after pending publishes have been answered', async () => {
    const answers = new Answers();
    const told: ClearProgress[] = [];
    const stop = clearRetained(answers, topics(1_000), AT_LEAST_ONCE, (progress) => told.push(progress));
    stop();
    for (let count = 0; count < CLEARS_OUTSTANDING_MAX; count += 1) {
      expect(told.at(-1)?.isDone ?? false).toBe(false);
      await answers.answer();
    }
    expect(answers.requests).toHaveLength(CLEARS_OUTSTANDING_MAX);
    expect(told.at(-1)).toMatchObject({ cleared: CLEARS_OUTSTANDING_MAX, total: 1_000, isDone: true });
  });

  it('is done at once where there is nothing to clear', () => {
    const told: ClearProgress[] = [];
    clearRetained(new Answers(), [], AT_LEAST_ONCE, (progress) => told.push(progress));
    expect(told).toHaveLength(1);
    expect(told[0]?.isDone).toBe(true);
  });
});
