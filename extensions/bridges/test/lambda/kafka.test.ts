import type { InvocationContext } from '@apus/aws';
import { readStreams, type StreamDeclaration } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeTime } from '../../../../packages/aws/test/support/fake-time.ts';
import { type Hooks, type Process, World } from '../../../../packages/aws/test/support/fan-out.ts';
import type { KafkaEvent, KafkaEventRecord } from '../../src/lambda/kafka-event.ts';
import { createKafkaHandler, type KafkaHandler, RecordsWait } from '../../src/lambda/kafka-handler.ts';
import { mappingsJson, readKafkaMappings } from '../../src/lambda/kafka-source.ts';

const BRIDGE = {
  name: 'market',
  kafka: {},
  in: [
    { topic: 'prices', to: 'prices/{key}' },
    { topic: 'values', to: 'values/{key}', retain: true },
  ],
};
/** A function of the event source mapping may run for minutes; here the fake clock counts them. */
const FUNCTION_MS = 300_000;
const MEGABYTES_10 = 10 * 1024 * 1024;

let world: World;
let hooks: { before?: Hooks['before'] };
let process: Process;
let handler: KafkaHandler;
let skipped: number;
let published: number;

beforeEach(async () => {
  world = await World.create();
  hooks = {};
  process = world.process({ name: 'kafka', hooks: { before: (call) => hooks.before?.(call) } });
  skipped = 0;
  published = 0;
  handler = handlerOf(process, world.time);
});

function handlerOf({ cloud: { environment } }: Process, time: FakeTime): KafkaHandler {
  return createKafkaHandler({
    environment,
    mappings: readKafkaMappings(mappingsJson(BRIDGE), 'test'),
    topicLevelsMax: 201,
    sleep: time.sleep,
    log: environment.log,
    published: (messages) => {
      published += messages;
    },
    skipped: () => {
      skipped += 1;
    },
  });
}

function context(): InvocationContext {
  const endMs = world.time.nowMs + FUNCTION_MS;
  return { getRemainingTimeInMillis: () => endMs - world.time.nowMs };
}

const base64 = (text: string | Buffer) => Buffer.from(text as string).toString('base64');

function record(
  offset: number,
  key: string | Buffer | null,
  value: string | Buffer | null,
  more: Partial<KafkaEventRecord> = {},
): KafkaEventRecord {
  return {
    topic: 'prices',
    partition: 0,
    offset,
    key: key === null ? null : base64(key),
    value: value === null ? null : base64(value),
    headers: [],
    ...more,
  };
}

function eventOf(...records: readonly KafkaEventRecord[]): KafkaEvent {
  const partitions: Record<string, KafkaEventRecord[]> = {};
  for (const each of records) {
    const { topic, partition } = each;
    const name = `${topic}-${partition}`;
    partitions[name] = [...(partitions[name] ?? []), each];
  }
  return { eventSource: 'aws:kafka', records: partitions };
}

const run = (...records: readonly KafkaEventRecord[]) => handler(eventOf(...records), context());

const subscriber = async (filter: string) =>
  (await world.subscribers(1, { qos: 1 }, {}, filter))[0] as string;

describe('the documented events', () => {
  // Copied from https://docs.aws.amazon.com/lambda/latest/dg/with-msk.html and …/with-kafka.html.
  const documented = {
    topic: 'prices',
    partition: 0,
    offset: 15,
    timestamp: 1545084650987,
    timestampType: 'CREATE_TIME',
    key: 'RVVSVVNE',
    value: 'SGVsbG8sIHRoaXMgaXMgYSB0ZXN0Lg==',
    headers: [{ headerKey: [104, 101, 97, 100, 101, 114, 86, 97, 108, 117, 101] }],
  };

  it.each<[string, object]>([
    [
      'Amazon MSK',
      {
        eventSource: 'aws:kafka',
        eventSourceArn:
          'arn:aws:kafka:us-east-1:123456789012:cluster/vpc-2priv-2pub/751d2973-a626-431c-9d4e-d7975eb44dd7-2',
        bootstrapServers: 'b-2.demo-cluster-1.a1bcde.c1.kafka.us-east-1.amazonaws.com:9092',
        records: { 'prices-0': [documented] },
      },
    ],
    [
      'another Apache Kafka',
      {
        eventSource: 'SelfManagedKafka',
        bootstrapServers: 'b-2.demo-cluster-1.a1bcde.c1.kafka.us-east-1.amazonaws.com:9092',
        records: { 'prices-0': [{ ...documented, partition: '0' }] },
      },
    ],
  ])('of %s become messages, with headers as user properties', async (_, event) => {
    const connectionId = await subscriber('prices/EURUSD');
    await handler(event as KafkaEvent, context());
    expect(world.gateway.textsTo(connectionId)).toEqual(['Hello, this is a test.']);
    expect(published).toBe(1);
  });
});

describe('records', () => {
  it('of a partition come in their order, even over several events of the broker', async () => {
    const connectionId = await subscriber('prices/+');
    const texts = Array.from({ length: 120 }, (_, index) => `${index}`);
    await run(...texts.map((text, offset) => record(offset, 'EURUSD', text)));
    expect(world.gateway.textsTo(connectionId)).toEqual(texts);
  });

  it('keep their places in a stream where Lambda sends them again, and are posted again', async () => {
    const streams = readStreams([{ name: 's', topicFilter: 'prices/#' }], 'streams');
    const sender = world.process({ name: 'kafka', streams });
    handler = handlerOf(sender, world.time);
    const connectionId = await subscriber('prices/EURUSD');
    const event = ['0', '1'].map((text, offset) => record(offset, 'EURUSD', text));
    await run(...event);
    await run(...event, record(2, 'EURUSD', '2'));
    const { streams: log } = sender.cloud.stores;
    const [stream] = streams.all as [StreamDeclaration];
    const tail = await log.tail('default', stream, 'prices/EURUSD', world.time.nowMs);
    expect(tail).toMatchObject({ last: 3 });
    expect(world.gateway.textsTo(connectionId)).toEqual(['0', '1', '0', '1', '2']);
  });

  it('are retained with a value, and remove the retained message without one', async () => {
    const more = { topic: 'values' };
    await run(record(0, 'a', '1', more), record(1, 'b', '2', more), record(2, 'a', null, more));
    const connectionId = await world.connect();
    const packet = { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'values/+', qos: 0 }] };
    const reply = await world.frame(connectionId, packet);
    expect(reply.slice(1)).toMatchObject([{ text: '2', retain: true }]);
  });

  it.each<[string, KafkaEventRecord]>([
    ['no key', record(1, null, 'x')],
    ['a key that is no UTF-8', record(1, Buffer.from([0xc3, 0x28]), 'x')],
    ['a wildcard in its key', record(1, 'a/+', 'x')],
    ['U+0000 in its key', record(1, 'a\0', 'x')],
    ['10 MB', record(1, 'a', Buffer.alloc(MEGABYTES_10))],
    ['headers that make it larger than a message', record(1, 'a', 'x', { headers: headersOf(40_000, 4) })],
    ['the topic of no mapping', record(1, 'a', 'x', { topic: 'other' })],
    [
      'crossed as many bridges as it may',
      record(1, 'a', 'x', { headers: [{ 'apus-bridge-hops': [...Buffer.from('4')] }] }),
    ],
  ])('with %s are left out and counted, and the others come', async (_, bad) => {
    const connectionId = await subscriber('prices/#');
    await run(record(0, 'a', 'before'), bad, record(2, 'a', 'after'));
    expect(world.gateway.textsTo(connectionId)).toEqual(['before', 'after']);
    expect([skipped, published]).toEqual([1, 2]);
    expect(process.log).toContainEqual({
      level: 'warn',
      event: 'bridge-record-skipped',
      fields: expect.objectContaining({ bridge: 'market', offset: '1' }),
    });
  });

  it('lose a header that is no MQTT string', async () => {
    const connectionId = await subscriber('prices/#');
    const headers = [{ bytes: [0xff, -2] }, { zero: [0] }, ...headersOf(70_000, 1), { name: [65] }];
    await run(record(0, 'a', 'x', { headers }));
    expect(world.gateway.textsTo(connectionId)).toEqual(['x']);
    expect(skipped).toBe(0);
  });
});

describe('the function returns', () => {
  it('only when its messages have been posted', async () => {
    await subscriber('prices/#');
    let post: (() => void) | undefined;
    world.gateway.answer = () => new Promise((resolve) => (post = () => resolve('sent')));
    let isDone = false;
    const done = run(record(0, 'a', 'x')).then(() => {
      isDone = true;
    });
    while (post === undefined) await new Promise(setImmediate);
    expect(isDone).toBe(false);
    post();
    await done;
  });

  it('when the table is available again, and nothing is lost or out of order', async () => {
    const connectionId = await subscriber('prices/#');
    let failures = 6;
    hooks.before = () => {
      failures -= 1;
      if (failures >= 0)
        throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    };
    await run(record(0, 'a', '1'), record(1, 'a', '2'), record(2, 'a', '3'));
    expect(withoutRepeats(world.gateway.textsTo(connectionId))).toEqual(['1', '2', '3']);
    expect(failures).toBeLessThan(0);
  });

  it('with an error if the table stays unavailable, so that Lambda sends the event again', async () => {
    const connectionId = await subscriber('prices/#');
    hooks.before = () => {
      throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    };
    const event = [record(0, 'a', '1'), record(1, 'a', '2')];
    await expect(run(...event)).rejects.toThrow(RecordsWait);
    expect(published).toBe(0);
    hooks = {};
    await run(...event);
    expect(world.gateway.textsTo(connectionId)).toEqual(['1', '2']);
  });

  it('with an error, and passes over the messages that it has stored when the event comes again', async () => {
    const connectionId = await subscriber('prices/#');
    const texts = Array.from({ length: 60 }, (_, index) => `${index}`);
    const event = texts.map((text, offset) => record(offset, 'a', text));
    hooks.before = () => {
      if (world.gateway.textsTo(connectionId).length > 0)
        throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    };
    await expect(run(...event)).rejects.toThrow(RecordsWait);
    expect(published).toBeGreaterThan(0);
    hooks = {};
    await run(...event);
    expect(world.gateway.textsTo(connectionId)).toEqual(texts);
    expect(published).toBe(texts.length);
    // They are forgotten with the event: a topic that is made anew has the same offsets.
    await run(...event);
    expect(published).toBe(2 * texts.length);
  });
});

/** A crash causes repetitions: the first one of each text counts. */
function withoutRepeats(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function headersOf(bytes: number, count: number): readonly Readonly<Record<string, readonly number[]>>[] {
  return Array.from({ length: count }, (_, index) => ({ [`h${index}`]: Array(bytes).fill(65) }));
}
