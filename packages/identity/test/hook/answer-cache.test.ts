import { expect, test } from 'vitest';
import { AnswerCache } from '../../src/hook/answer-cache.ts';

const clock = { now: () => 0 };

test("the cache of a hook's answers is bounded, and drops the client that asked longest ago first", () => {
  const cache = new AnswerCache({ clock, ttlMs: 1_000, entriesPerClientMax: 4, entriesMax: 10 });
  for (let client = 0; client < 100; client++) {
    for (let question = 0; question < 8; question++)
      cache.set(`client ${client}`, `question ${question}`, true);
    expect(cache.size).toBeLessThanOrEqual(10);
  }
  expect(cache.get('client 99', 'question 7')).toBe(true);
  expect(cache.get('client 99', 'question 3')).toBeUndefined();
  expect(cache.get('client 98', 'question 7')).toBe(true);
  expect(cache.get('client 0', 'question 7')).toBeUndefined();
});

test('a client that asks again stays', () => {
  const cache = new AnswerCache({ clock, ttlMs: 1_000, entriesPerClientMax: 4, entriesMax: 3 });
  for (const client of ['a', 'b', 'c']) cache.set(client, 'question', true);
  cache.get('a', 'question');
  cache.set('d', 'question', true);
  expect(cache.get('a', 'question')).toBe(true);
  expect(cache.get('b', 'question')).toBeUndefined();
});

test('a topic of 64 KB is kept as its hash, and answers for no other', () => {
  const cache = new AnswerCache({ clock, ttlMs: 1_000, entriesPerClientMax: 4, entriesMax: 3 });
  const long = 'x'.repeat(65_535);
  cache.set('client', `${long}a`, true);
  expect(cache.get('client', `${long}a`)).toBe(true);
  expect(cache.get('client', `${long}b`)).toBeUndefined();
});

test('an answer that is given again is counted once', () => {
  const cache = new AnswerCache({ clock, ttlMs: 1_000, entriesPerClientMax: 4, entriesMax: 3 });
  for (let time = 0; time < 10; time++) cache.set('client', 'question', time % 2 === 0);
  expect(cache.size).toBe(1);
  expect(cache.get('client', 'question')).toBe(false);
});
