import { KafkaSink, Lane } from '@apus/bridges/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Outcome, ruleHistory, sinkHistory, sourceHistory } from './histories.ts';

/** `APUS_FAULT_SEED=100 APUS_FAULT_HISTORIES=500` plays others, and more. */
const FIRST = Number(process.env.APUS_FAULT_SEED ?? 1);
const HISTORIES = Number(process.env.APUS_FAULT_HISTORIES ?? 10);
const SEEDS = Array.from({ length: HISTORIES }, (_, index) => FIRST + index);
const MUTATED_MAX = 20;
const TIMEOUT_MS = 300_000;

afterEach(() => void vi.restoreAllMocks());

/** The first seed whose history breaks a promise. */
async function found(history: (seed: number) => Promise<Outcome>): Promise<string | undefined> {
  for (let seed = 1; seed <= MUTATED_MAX; seed += 1) {
    const { problems } = await history(seed);
    if (problems[0] !== undefined) return problems[0];
  }
  return undefined;
}

describe.each([
  ['a source', sourceHistory],
  ['a sink', sinkHistory],
  ['a rule', ruleHistory],
])('%s that is like Kafka, fails, repeats and disappears', (_what, history) => {
  test.each(SEEDS)(
    'loses nothing that was acknowledged, and keeps the order of a key (seed %i)',
    async (seed) => {
      const { problems, faults, deaths } = await history(seed);
      expect(problems).toEqual([]);
      expect(faults).toBeGreaterThan(0);
      expect(deaths).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

describe('a history without a protection finds', () => {
  test(
    'an offset that is committed before its message is durable',
    async () => {
      expect(await found((seed) => sourceHistory(seed, 'answers early'))).toMatch(/lost/);
    },
    TIMEOUT_MS,
  );

  test(
    'a stream that is not told where a record comes from',
    async () => {
      expect(await found((seed) => sourceHistory(seed, 'no origin'))).toMatch(/not once/);
    },
    TIMEOUT_MS,
  );

  test(
    'a publisher that is answered before Kafka has its record',
    async () => {
      const { send } = KafkaSink.prototype;
      vi.spyOn(KafkaSink.prototype, 'send').mockImplementation(async function (this: KafkaSink, record) {
        void send.call(this, record);
        return true;
      });
      expect(await found(sinkHistory)).toMatch(/lost|order/);
    },
    TIMEOUT_MS,
  );

  test(
    'a message that is acknowledged before its target has it',
    async () => {
      const { add } = Lane.prototype;
      vi.spyOn(Lane.prototype, 'add').mockImplementation(function (this: Lane, job) {
        add.call(this, job);
        job.done();
      });
      expect(await found(ruleHistory)).toMatch(/lost/);
    },
    TIMEOUT_MS,
  );
});
