import { describe, expect, it } from 'vitest';
import { numberedMessage } from '../contract/samples.ts';
import { CONFLATED_TOPICS_MAX, Conflation, type Delivery, type Message } from '../src/index.ts';
import { FakeDelays } from './support/fake-delays.ts';

const MS = 100;

function world() {
  const delays = new FakeDelays();
  const conflation = new Conflation(delays);
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
