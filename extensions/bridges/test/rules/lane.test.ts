import type { Message } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { FakeScheduler } from '../../../../packages/node/test/support/fake-scheduler.ts';
import { Lane } from '../../src/rules/lane.ts';
import type { BatchLimits, Failure } from '../../src/rules/target.ts';

const BATCH: BatchLimits = { messagesMax: 3, bytesMax: 1_000, isPartial: false };
const RETRY = { attempts: 3, firstDelayMs: 100, delayMsMax: 1_000 };

function messageOf(payload: string, topic = 'a'): Message {
  return {
    ...{ id: payload, topic, payload: Buffer.from(payload), qos: 1, retain: false, properties: {} },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
  };
}

const texts = (messages: readonly Message[]): string => messages.map(({ id }) => id).join('');

/** A lane to a target that gives the answers of `answer`. */
function laneTo(answer: (texts: string, messages: readonly Message[]) => Failure | undefined, batch = BATCH) {
  const clock = new FakeScheduler();
  const [calls, dead, done]: [string[], string[], string[]] = [[], [], []];
  const room = { letters: 100 };
  const target = {
    ...{ type: 'test', remote: 'test', batch, stop: async () => {} },
    async send(messages: readonly Message[]) {
      calls.push(texts(messages));
      return answer(texts(messages), messages);
    },
  };
  const handlers = {
    sent: () => {},
    failed: () => {},
    async dead(message: Message) {
      if (dead.length >= room.letters) return false;
      dead.push(message.id);
      return true;
    },
  };
  const lane = new Lane(target, RETRY, handlers, clock);
  const add = (all: string, topic?: string): void => {
    for (const id of all) lane.add({ message: messageOf(id, topic), done: () => done.push(id) });
  };
  return { clock, calls, dead, done, room, lane, add };
}

const later = (messages: readonly Message[]): Failure => ({ messages, error: 'later', isPermanent: false });
const never = (messages: readonly Message[]): Failure => ({ messages, error: 'never', isPermanent: true });

describe('a lane', () => {
  test('sends one batch after another, in order', async () => {
    const { calls, done, add } = laneTo(() => undefined);
    add('abcde');
    await expect.poll(() => done.join('')).toBe('abcde');
    expect(calls).toEqual(['abc', 'de']);
  });

  test('repeats a batch before it goes on, and waits twice as long each time', async () => {
    let failures = 2;
    const { clock, calls, done, add } = laneTo((_texts, messages) =>
      failures-- > 0 ? later(messages) : undefined,
    );
    add('abcd');
    await expect.poll(() => calls).toEqual(['abc']);
    await Promise.resolve();
    clock.advance(99);
    expect(calls.length).toBe(1);
    clock.advance(1);
    await expect.poll(() => calls).toEqual(['abc', 'abc']);
    await Promise.resolve();
    clock.advance(200);
    await expect.poll(() => calls).toEqual(['abc', 'abc', 'abc', 'd']);
    expect(done.join('')).toBe('abcd');
  });

  test('gives up after its attempts, and goes on with the others', async () => {
    const { clock, calls, dead, done, add } = laneTo(
      (all, messages) => (all.includes('a') ? later(messages) : undefined),
      {
        ...BATCH,
        messagesMax: 1,
      },
    );
    add('ab');
    for (const delayMs of [100, 200]) {
      const before = calls.length;
      await expect.poll(() => calls.length).toBeGreaterThanOrEqual(before);
      await new Promise(setImmediate);
      clock.advance(delayMs);
      await new Promise(setImmediate);
    }
    await expect.poll(() => done.join('')).toBe('ab');
    expect(calls).toEqual(['a', 'a', 'a', 'b']);
    expect(dead).toEqual(['a']);
  });

  test('finds the one message of a batch that the target never takes', async () => {
    const { calls, dead, done, add } = laneTo((all, messages) =>
      all.includes('b') ? never(messages) : undefined,
    );
    add('abc');
    await expect.poll(() => done.join('')).toBe('abc');
    expect(calls).toEqual(['abc', 'a', 'b', 'c']);
    expect(dead).toEqual(['b']);
  });

  test('sends only the refused ones again', async () => {
    let isFirst = true;
    const { clock, calls, done, add } = laneTo((_all, messages) => {
      const refused = isFirst ? later(messages.filter(({ id }) => id === 'b')) : undefined;
      isFirst = false;
      return refused;
    });
    add('abc');
    await expect.poll(() => done.join('')).toBe('ac');
    clock.advance(100);
    await expect.poll(() => done.join('')).toBe('acb');
    expect(calls).toEqual(['abc', 'b']);
  });

  test('sends each topic once in a call if the target may refuse a part', async () => {
    const { calls, done, add } = laneTo(() => undefined, { ...BATCH, isPartial: true });
    add('a', '1');
    add('b', '2');
    add('cd', '1');
    await expect.poll(() => done.join('')).toBe('abcd');
    expect(calls).toEqual(['ab', 'c', 'd']);
  });

  test('keeps trying if there is no room for dead letters', async () => {
    let isWell = false;
    const { clock, calls, dead, done, room, add } = laneTo((_all, messages) =>
      isWell ? undefined : never(messages),
    );
    room.letters = 0;
    add('a');
    await expect.poll(() => calls.length).toBe(1);
    await new Promise(setImmediate);
    expect(done).toEqual([]);
    isWell = true;
    clock.advance(100);
    await expect.poll(() => done).toEqual(['a']);
    expect(dead).toEqual([]);
  });

  test('leaves messages unacknowledged that have not arrived when it is stopped', async () => {
    const { calls, done, lane, add } = laneTo((_all, messages) => later(messages));
    add('abcd');
    await expect.poll(() => calls.length).toBe(1);
    await lane.stop();
    expect(done).toEqual([]);
    expect(calls).toEqual(['abc']);
  });
});
