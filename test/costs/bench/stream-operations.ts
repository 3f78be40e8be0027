import { subscribe } from '../../support/text-client.ts';
import { type BenchOperation, connected } from './operation.ts';
import { publishOne } from './publish-operations.ts';
import type { BenchClient } from './world.ts';

/** Topics of streams in a measurement. They have the shape and the length of the other topics. */
export const STREAMS = [
  { name: 'tides', topicFilter: 'tides/#' },
  { name: 'rates', topicFilter: 'rates/#', snapshot: true, key: 'pair', messagesMax: 1 },
];

/** The time after which handlers have written the values of messages. */
const WRITTEN_MS = 11_000;

const streamTopic = (topic: string): string => topic.replace('bench/', 'tides/');
const snapshotTopic = (topic: string): string => topic.replace('bench/', 'rates/');

/** A message that is appended, and sent to one reader. */
export const PUBLISH_TO_STREAM = publishTo('topic of a stream', streamTopic);

/** The same for a stream that keeps the last value of each key. */
export const PUBLISH_TO_SNAPSHOT = publishTo('topic of a stream with a snapshot', snapshotTopic);

function publishTo(what: string, topicOf: (topic: string) => string): BenchOperation {
  return {
    name: `PUBLISH QoS 1 to 1, ${what}`,
    deliveries: 1,
    floor: { in: 1, out: 2 },
    async prepare(world, topic) {
      const reader = await connected(world);
      await reader.exchange(reading('stream-offset', 'latest', topicOf(topic)));
      const publisher = await connected(world);
      const run = async () => {
        await publishOne(publisher, topicOf(topic), 1);
        await reader.nextPush();
      };
      // The first message opens the topic.
      await run();
      await world.quiet();
      return run;
    },
  };
}

/** A new reader, to whom the broker sends the last value of each key. */
export function snapshot(keys: number): BenchOperation {
  return {
    name: `SUBSCRIBE to a stream, snapshot of ${keys.toLocaleString('en')} keys`,
    deliveries: keys,
    floor: { in: 1, out: 1 },
    async prepare(world, topic) {
      const publisher = await connected(world);
      for (let key = 1; key <= keys; key += 1)
        await publishOne(publisher, snapshotTopic(topic), 1, { userProperties: { pair: `pair-${key}` } });
      // Until then their messages are read as well: handlers may not have written the values.
      await world.pass(WRITTEN_MS);
      const reader = await connected(world);
      return async () => {
        const reply = await reader.exchange(subscribe(`$stream/rates/${snapshotTopic(topic)}`, { qos: 0 }));
        const received = reply.packets.filter(({ cmd }) => cmd === 'publish').length;
        if (received === 0) throw new Error('expected values behind SUBACK');
      };
    },
  };
}

/** A reader that reconnects with its position. */
export function recover(missed: number): BenchOperation {
  return {
    name: `SUBSCRIBE to a stream, ${missed} messages recovered`,
    deliveries: missed,
    floor: { in: 1, out: 1 },
    async prepare(world, topic) {
      const publisher = await connected(world);
      await publishMany(publisher, streamTopic(topic), 1);
      const before = await connected(world);
      const { packets } = await before.exchange(reading('rewind', '1', streamTopic(topic)));
      const position = positionOf(packets.at(-1)?.properties);
      await publishMany(publisher, streamTopic(topic), missed);
      const reader = await connected(world);
      return async () => {
        const reply = await reader.exchange(reading('stream-position', position, streamTopic(topic)));
        const received = reply.packets.filter(({ cmd }) => cmd === 'publish').length;
        if (received === 0) throw new Error('expected messages behind SUBACK');
      };
    },
  };
}

/** Subscribers of a conflated group. Workers serve it, as with a wide filter. */
const CONFLATED = 100;

/** An interval of a second, and the queue of the timers. */
const TICK_MS = 3_000;

/** Messages within one interval, and its tick: each subscriber is sent the newest. */
export const CONFLATED_TICK: BenchOperation = {
  name: `10 messages of a topic, conflated to ${CONFLATED}, with its tick`,
  deliveries: CONFLATED,
  floor: { in: 10, out: 10 + CONFLATED },
  isTimed: true,
  async prepare(world, topic) {
    const readers: BenchClient[] = [];
    for (let index = 0; index < CONFLATED; index += 1) {
      const reader = await connected(world);
      await reader.exchange(reading('conflate-ms', '1000', snapshotTopic(topic)));
      readers.push(reader);
    }
    const publisher = await connected(world);
    const run = async (messages: number) => {
      for (let number = 1; number <= messages; number += 1)
        await publishOne(publisher, snapshotTopic(topic), 1);
      await world.pass(TICK_MS);
      for (const reader of readers) await reader.nextPush();
    };
    // The first message opens the topic.
    await run(1);
    await world.quiet();
    return async () => await run(10);
  },
};

function reading(name: string, value: string, topic: string) {
  const packet = subscribe(topic, { qos: 0 });
  return { ...packet, properties: { userProperties: { [name]: value } } };
}

function positionOf(properties: unknown): string {
  const { userProperties } = properties as { userProperties: Record<string, string> };
  return userProperties['stream-position'] ?? '';
}

async function publishMany(publisher: BenchClient, topic: string, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) await publishOne(publisher, topic, 1);
}
