import { expect, test } from 'vitest';
import { history } from './history.ts';

/** `APUS_FAULT_SEED=100 APUS_FAULT_HISTORIES=500` plays others, and more. */
const FIRST = Number(process.env.APUS_FAULT_SEED ?? 1);
const SEEDS = Array.from(
  { length: Number(process.env.APUS_FAULT_HISTORIES ?? 20) },
  (_, index) => FIRST + index,
);
const MUTATED_MAX = 60;

test('a reader with resume gets each record once, and the messages of each publisher in order, whatever stops or dies', async () => {
  for (const seed of SEEDS) expect(await history(seed), `seed ${seed}`).toEqual([]);
});

test.each([
  ['an origin is refused', / instead of /],
  ['a record is refused with the one before', / instead of /],
  ['appends fail with those before', /^order/],
  ['an offset is committed when its record is stored', / instead of /],
  ['the next message is handled when its stream has been asked', /^order/],
  ['messages are answered in their order', /PUBACK/],
  ['none overtakes one that has failed', /^order/],
] as const)('a history without a protection finds it: %s', async (without, problem) => {
  for (let seed = 1; seed <= MUTATED_MAX; seed += 1) {
    const found = (await history(seed, without)).find((each) => problem.test(each));
    if (found !== undefined) return;
  }
  expect.fail('no history has found it');
});
