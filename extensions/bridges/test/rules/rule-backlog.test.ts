import { messageOf } from '@apus/broker/samples';
import type { BridgesContext } from '@apus/node';
import { expect, test } from 'vitest';
import type { RuleConfiguration } from '../../src/rules/configuration/rules.ts';
import { RuleBacklog } from '../../src/rules/rule-backlog.ts';

const RULE = { tenant: 't', name: 'slow', filter: 'up/#' } as RuleConfiguration;
const FILTER = { tenant: 't', topicFilter: 'up/#' };

/** Bytes of a message beside its payload. */
const TOPIC_BYTES = 4;

function backlogOf(queueLengthMax = 100, queueBytesMax = 1_000) {
  const waiting = { messages: 0, bytes: 0 };
  const context = { queueLengthMax, queueBytesMax, waiting: () => waiting } as unknown as BridgesContext;
  return { backlog: new RuleBacklog([RULE], context), waiting };
}

const sized = (bytes: number) => messageOf({ topic: 'up/a', payload: Buffer.alloc(bytes - TOPIC_BYTES) });

test('a queue takes new messages up to nine tenths, and messages on their way up to nineteen twentieths', () => {
  const { backlog, waiting } = backlogOf();
  const roomAt = (messages: number) => {
    waiting.messages = messages;
    return backlog.roomFor('t', sized(5));
  };
  expect([89, 90, 94, 95].map(roomAt)).toEqual(['enough', 'little', 'little', 'none']);
  expect(backlog.lacking('t', sized(5))).toEqual(FILTER);
  expect(backlog.roomFor('other', sized(5))).toBe('enough');
  expect(backlog.full()).toEqual([FILTER]);
  waiting.messages = 80;
  expect(backlog.full()).toEqual([FILTER]);
  waiting.messages = 78;
  expect(backlog.full()).toEqual([]);
});

test('a queue is full until it has room for the largest message that found none, or is empty', () => {
  const { backlog, waiting } = backlogOf();
  Object.assign(waiting, { messages: 10, bytes: 700 });
  expect(backlog.roomFor('t', sized(300))).toBe('none');
  expect(backlog.full()).toEqual([FILTER]);
  // A small message would find room, and overtake the large one again and again.
  Object.assign(waiting, { messages: 9, bytes: 600 });
  expect(backlog.full()).toEqual([FILTER]);
  Object.assign(waiting, { messages: 8, bytes: 490 });
  expect(backlog.full()).toEqual([]);
  Object.assign(waiting, { messages: 1, bytes: 100 });
  expect(backlog.roomFor('t', sized(900))).toBe('none');
  expect(backlog.full()).toEqual([FILTER]);
  Object.assign(waiting, { messages: 0, bytes: 0 });
  expect(backlog.full()).toEqual([]);
});

test('a message that is larger than a queue never finds room', () => {
  const { backlog } = backlogOf();
  expect(backlog.roomFor('t', sized(950))).toBe('little');
  expect(backlog.roomFor('t', sized(951))).toBe('never');
});

test('a queue takes a twentieth of its size at a time, and never zero or more than a megabyte', () => {
  expect(backlogOf().backlog.portion).toEqual({ messages: 5, bytes: 50 });
  expect(backlogOf(10, 10).backlog.portion).toEqual({ messages: 1, bytes: 1 });
  expect(backlogOf(1e6, 1e9).backlog.portion).toEqual({ messages: 500, bytes: 1024 * 1024 });
});

test('a publisher may have as much in a queue as it leaves to others, and always one message [SEC-POOL-5]', () => {
  const { backlog, waiting } = backlogOf();
  let number = 0;
  const publish = (holder: string) => {
    number += 1;
    const message = { ...sized(5), id: String(number) };
    const room = backlog.roomFor('t', message, holder);
    if (room !== 'enough') return room;
    backlog.queued('t', message, holder);
    waiting.messages += 1;
    return room;
  };
  const many = (holder: string) => {
    let taken = 0;
    while (publish(holder) === 'enough') taken += 1;
    return taken;
  };
  expect(many('greedy')).toBe(45);
  expect(backlog.lacking('t', sized(5), 'greedy')).toEqual({ ...FILTER, holder: 'greedy' });
  expect(backlog.lacking('t', sized(5), 'honest')).toBe(undefined);
  expect(backlog.full()).toEqual([{ ...FILTER, holder: 'greedy' }]);
  expect([many('second'), many('third')]).toEqual([22, 11]);
  // The queue moves on: the messages of the first publisher leave first.
  for (let id = 1; id <= 30; id += 1) {
    waiting.messages -= 1;
    backlog.delivered(RULE, { ...sized(5), id: String(id) });
  }
  expect(backlog.full()).toEqual([]);
  expect(publish('greedy')).toBe('enough');
  // What a restart has left in the queue, and what was dropped from it, belongs to none.
  waiting.messages = 0;
  expect(many('greedy')).toBe(45);
});
