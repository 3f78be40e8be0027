import { describe, expect, it } from 'vitest';
import { numberedMessage } from '../contract/samples.ts';
import {
  CONFLATED_TOPICS_MAX,
  Conflation,
  type ConflationMemory,
  type Delivery,
  type Message,
} from '../src/index.ts';
import { FakeDelays } from './support/fake-delays.ts';

const MS = 100;

function world(memory?: ConflationMemory) {
  const delays = new FakeDelays();
  const conflation = new Conflation(delays, memory);
  const sent: string[] = [];
  const note = (message: Message, { session }: Delivery) =>
    sent.push(`${session.key} ${message.topic} ${Buffer.from(message.payload)} at ${delays.nowMs}`);
  const deliveryTo = (key: string, topicFilter: string | undefined): Delivery =>
    ({
      session: { key },
      ...(topicFilter !== undefined && { conflate: { topicFilter, ms: MS } }),
    }) as unknown as Delivery;
  const publish = (topic: string, text: string, ...deliveries: readonly Delivery[]) => {
    const message = numberedMessage(1, { topic, payload: Buffer.from(text) });
    for (const each of conflation.take(message, deliveries, note)) note(message, each);
  };
  return { delays, conflation, sent, publish, deliveryTo };
}

/** A session has a 64th of it. */
const memoryOf = (bytesMax: number) => {
  const memory = {
    bytes: 0,
    bytesMax,
    get isFull() {
      return this.bytes >= bytesMax;
    },
    change(bytes: number) {
      memory.bytes += bytes;
    },
  };
  return memory;
};

describe('a conflated subscription without memory', () => {
  it('is sent each message when it comes, and never an older one after it [SEC-MEMORY-8]', () => {
    const memory = memoryOf(64 * 10_000);
    const { delays, sent, publish, deliveryTo } = world(memory);
    const reader = deliveryTo('r', 'prices/#');
    publish('prices/a', '1', reader);
    publish('prices/a', '2', reader);
    publish('prices/a', 'x'.repeat(10_000), reader);
    publish('prices/a', '4', reader);
    delays.advance(MS);
    expect(sent.map((text) => text.slice(0, 14))).toEqual([
      'r prices/a 1 a',
      'r prices/a xxx',
      'r prices/a 4 a',
    ]);
    delays.advance(MS);
    expect(memory.bytes).toBe(0);
  });

  it('takes none from another session, and gives back what it held [SEC-MEMORY-8]', () => {
    const memory = memoryOf(64 * 10_000);
    const { delays, conflation, sent, publish, deliveryTo } = world(memory);
    const [greedy, other] = [deliveryTo('greedy', 'a/#'), deliveryTo('other', 'a/#')];
    for (let number = 0; number < 100; number += 1)
      for (const text of ['1', 'x'.repeat(1_000)]) publish(`a/${number}`, text, greedy);
    expect(memory.bytes).toBeLessThanOrEqual(10_000);
    expect(sent.length).toBeGreaterThan(180);
    for (const text of ['1', '2', '3']) publish('a/1', text, other);
    delays.advance(MS);
    expect(sent.filter((text) => text.startsWith('other'))).toEqual([
      'other a/1 1 at 0',
      'other a/1 3 at 100',
    ]);
    conflation.forget('greedy', 'a/#');
    delays.advance(MS);
    expect(memory.bytes).toBe(0);
  });
});

describe('a conflated subscription', () => {
  it('is sent the first message at once, and of those in the interval the newest at its end', () => {
    const { delays, sent, publish, deliveryTo } = world();
    const reader = deliveryTo('r', 'prices/#');
    for (const text of ['1', '2', '3']) publish('prices/a', text, reader);
    expect(sent).toEqual(['r prices/a 1 at 0']);
    delays.advance(MS);
    expect(sent).toEqual(['r prices/a 1 at 0', 'r prices/a 3 at 100']);
  });

  it('is sent at most one message in any interval: the one at its end begins another', () => {
    const { delays, sent, publish, deliveryTo } = world();
    const reader = deliveryTo('r', 'prices/#');
    publish('prices/a', '1', reader);
    publish('prices/a', '2', reader);
    delays.advance(MS);
    publish('prices/a', '3', reader);
    delays.advance(MS - 1);
    expect(sent).toHaveLength(2);
    delays.advance(1);
    expect(sent.at(-1)).toBe('r prices/a 3 at 200');
  });

  it('is sent a message at once again after an interval without messages, and keeps no state', () => {
    const { delays, conflation, sent, publish, deliveryTo } = world();
    const reader = deliveryTo('r', 'prices/#');
    publish('prices/a', '1', reader);
    delays.advance(MS);
    expect(conflation.size).toBe(0);
    publish('prices/a', '2', reader);
    expect(sent).toEqual(['r prices/a 1 at 0', 'r prices/a 2 at 100']);
  });

  it('has an interval for each topic, each subscription and each session', () => {
    const { sent, publish, deliveryTo } = world();
    publish('a', '1', deliveryTo('r', '#'), deliveryTo('r', 'a'), deliveryTo('s', '#'));
    publish('b', '1', deliveryTo('r', '#'));
    expect(sent).toEqual(['r a 1 at 0', 'r a 1 at 0', 's a 1 at 0', 'r b 1 at 0']);
  });

  it('leaves other subscriptions as they are', () => {
    const { sent, publish, deliveryTo } = world();
    for (const text of ['1', '2']) publish('a', text, deliveryTo('r', 'a'), deliveryTo('s', undefined));
    expect(sent).toEqual(['r a 1 at 0', 's a 1 at 0', 's a 2 at 0']);
  });

  it('gives back the timers of its intervals when it ends, however long they are [SEC-GROWTH-2]', () => {
    const { delays, conflation, publish, deliveryTo } = world();
    for (let round = 0; round < 3; round += 1) {
      for (const text of ['1', '2'])
        for (const topic of ['a/1', 'a/2']) publish(topic, text, deliveryTo('r', 'a/#'));
      expect(delays.size).toBe(2);
      conflation.forget('r', 'a/#');
      expect(delays.size).toBe(0);
    }
  });

  it('has intervals for its reader of a stream in the same memory [SEC-GROWTH-2]', () => {
    const memory = memoryOf(64 * 10_000);
    const { delays, conflation } = world(memory);
    let rested = 0;
    const ended: string[] = [];
    for (let topic = 0; topic < 100; topic += 1)
      if (conflation.rest('r', { topicFilter: 's/#', ms: MS }, `s/${topic}`, () => ended.push(`s/${topic}`)))
        rested += 1;
    expect(rested).toBeGreaterThan(10);
    expect(rested).toBeLessThan(20);
    expect(memory.bytes).toBeLessThanOrEqual(10_000);
    delays.advance(MS);
    expect(ended.length).toBe(rested);
    expect(memory.bytes).toBe(0);
    conflation.rest('r', { topicFilter: 's/#', ms: MS }, 's/1', () => ended.push('never'));
    conflation.forget('r', 's/#');
    expect([delays.size, memory.bytes]).toEqual([0, 0]);
  });

  it('is sent no held message after it has ended', () => {
    const { delays, conflation, sent, publish, deliveryTo } = world();
    for (const text of ['1', '2']) publish('a', text, deliveryTo('r', 'a'));
    conflation.forget('r', 'a');
    delays.advance(MS);
    expect(sent).toEqual(['r a 1 at 0']);
    // A new one begins with its own first message.
    publish('a', '3', deliveryTo('r', 'a'));
    expect(sent.at(-1)).toBe('r a 3 at 100');
  });

  it('holds messages of a bounded number of topics, and is sent messages of further topics as they come', () => {
    const { conflation, sent, publish, deliveryTo } = world();
    const reader = deliveryTo('r', '#');
    for (let topic = 0; topic < CONFLATED_TOPICS_MAX; topic += 1) publish(`t/${topic}`, '1', reader);
    expect(conflation.size).toBe(CONFLATED_TOPICS_MAX);
    sent.length = 0;
    for (const text of ['1', '2']) publish('t/more', text, reader);
    publish('t/0', '2', reader);
    expect(sent).toEqual(['r t/more 1 at 0', 'r t/more 2 at 0']);
    expect(conflation.size).toBe(CONFLATED_TOPICS_MAX);
  });
});
