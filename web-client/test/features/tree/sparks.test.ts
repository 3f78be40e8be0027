import { describe, expect, test, vi } from 'vitest';
import { BoundedMessageLog } from '../../../src/engine/log/message-log.ts';
import {
  REDRAW_INTERVAL_MS,
  SPARK_INTERVAL_MS,
  SPARK_PAYLOAD_BYTES_MAX,
  SPARK_SAMPLES_MAX,
  SPARK_TOPICS_MAX,
} from '../../../src/features/tree/limits.ts';
import { sparkNumber } from '../../../src/features/tree/spark-number.ts';
import { Sparks } from '../../../src/features/tree/sparks.ts';
import { TopicTree } from '../../../src/features/tree/topic-tree.ts';
import { message, messageFields } from '../message.ts';

const log = () => new BoundedMessageLog({ messagesMax: 10_000, bytesMax: 10_000_000 });

describe('the number of a payload', () => {
  test.each([
    ['21.5', 21.5],
    ['{"value":3,"unit":"C"}', 3],
    ['{"ts":1700000000000,"seq":4,"on":true,"temperature":"19.5"}', 19.5],
    ['{"unit":"C"}', undefined],
    ['on', undefined],
    ['[1,2]', undefined],
    ['', undefined],
  ])('of %s is %s', (payload, number) => {
    expect(sparkNumber(message('a', payload))).toBe(number);
  });
});

describe('sparklines', () => {
  test('a topic that comes into sight begins with what the log holds, and goes on', () => {
    const messages = log();
    const sparks = new Sparks(sparkNumber);
    messages.append(['1', '2'].map((text) => messageFields('a', text)));
    expect(sparks.valuesOf('a')).toEqual([]);
    sparks.lookBack(messages);
    expect(sparks.valuesOf('a')).toEqual([1, 2]);
    sparks.take([message('a', '3', { atMs: SPARK_INTERVAL_MS * 10 }), message('b', '9')]);
    expect(sparks.valuesOf('a')).toEqual([1, 2, 3]);
    expect(sparks.valuesOf('b')).toEqual([]);
  });

  test('a fast topic gives one number in each interval', () => {
    const sparks = new Sparks(sparkNumber);
    sparks.valuesOf('a');
    sparks.lookBack(log());
    for (let at = 0; at < 10; at += 1) {
      sparks.take([message('a', String(at), { atMs: 1_000 + (at * SPARK_INTERVAL_MS) / 5 })]);
    }
    expect(sparks.valuesOf('a')).toEqual([0, 5]);
  });

  test('a line has no more numbers than its limit, the newest', () => {
    const messages = log();
    messages.append(Array.from({ length: SPARK_SAMPLES_MAX + 8 }, (_, at) => messageFields('a', String(at))));
    const sparks = new Sparks(sparkNumber);
    sparks.valuesOf('a');
    sparks.lookBack(messages);
    expect(sparks.valuesOf('a')).toHaveLength(SPARK_SAMPLES_MAX);
    expect(sparks.valuesOf('a').at(-1)).toBe(SPARK_SAMPLES_MAX + 7);
  });

  test('a topic without numbers is decoded a few times and then no more', () => {
    let decoded = 0;
    const sparks = new Sparks(() => {
      decoded += 1;
      return undefined;
    });
    sparks.valuesOf('a');
    sparks.lookBack(log());
    for (let at = 1; at <= 100; at += 1) sparks.take([message('a', 'on', { atMs: at * SPARK_INTERVAL_MS })]);
    expect(decoded).toBe(5);
  });

  test('a large payload is not decoded', () => {
    let decoded = 0;
    const sparks = new Sparks(() => {
      decoded += 1;
      return 1;
    });
    sparks.valuesOf('a');
    sparks.lookBack(log());
    sparks.take([message('a', new Uint8Array(SPARK_PAYLOAD_BYTES_MAX + 1), { atMs: 1e6 })]);
    expect(decoded).toBe(0);
  });

  test('the topics that were seen longest ago are followed no longer', () => {
    const sparks = new Sparks(() => 1);
    const messages = log();
    sparks.valuesOf('first');
    sparks.lookBack(messages);
    for (let number = 0; number < SPARK_TOPICS_MAX; number += 1) sparks.valuesOf(`topic/${number}`);
    sparks.lookBack(messages);
    sparks.take([message('first', '1', { atMs: 1e6 }), message('topic/7', '1', { atMs: 1e6 })]);
    expect(sparks.valuesOf('first')).toEqual([]);
    expect(sparks.valuesOf('topic/7')).toEqual([1]);
  });

  test('the view draws the line of a topic that has come into sight, without another message', () => {
    vi.useFakeTimers();
    try {
      const messages = log();
      messages.append(['1', '2'].map((text) => messageFields('a', text)));
      const tree = new TopicTree(() => 0, messages);
      tree.sparks = new Sparks(sparkNumber);
      const leave = tree.subscribe(() => {});
      tree.sparks.valuesOf('a');
      const drawn = tree.version;
      vi.advanceTimersByTime(REDRAW_INTERVAL_MS);
      const drawnAgain = tree.version;
      expect(drawnAgain).not.toBe(drawn);
      vi.advanceTimersByTime(REDRAW_INTERVAL_MS);
      expect(tree.version, 'and not once more for nothing').toBe(drawnAgain);
      leave();
    } finally {
      vi.useRealTimers();
    }
  });
});
