import type { InvocationContext } from '@apus/aws';
import type { SqsRecord } from '@apus/aws/lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Hooks, World } from '../../../../packages/aws/test/support/fan-out.ts';
import {
  createIotCoreHandler,
  type IotCoreHandler,
  MessagesWait,
  requestOf,
  selectedOf,
} from '../../src/lambda/iot-core-handler.ts';
import {
  type GivenIotCoreBridge,
  iotCoreSourcesJson,
  iotRuleSql,
  readIotCoreSources,
} from '../../src/lambda/iot-core-source.ts';

const BRIDGE: GivenIotCoreBridge = {
  name: 'things',
  iotCore: { endpoint: 'a-ats.iot.eu-west-1.amazonaws.com', tls: { certificate: 'a', key: 'b' } },
  in: [
    { filter: 'things/#' },
    { filter: '+/shadow/update/accepted', localPrefix: 'shadows/', remotePrefix: '$aws/things/' },
  ],
};
const FUNCTION_MS = 30_000;

let world: World;
let hooks: { before?: Hooks['before'] };
let handler: IotCoreHandler;
let skipped: number;
let published: number;
let number: number;

beforeEach(async () => {
  world = await World.create();
  hooks = {};
  const process = world.process({ name: 'iot-core', hooks: { before: (call) => hooks.before?.(call) } });
  [skipped, published, number] = [0, 0, 0];
  handler = createIotCoreHandler({
    environment: process.cloud.environment,
    sources: readIotCoreSources(JSON.parse(iotCoreSourcesJson([BRIDGE])), 'test'),
    topicLevelsMax: 201,
    log: process.cloud.environment.log,
    published: (messages) => {
      published += messages;
    },
    skipped: () => {
      skipped += 1;
    },
  });
});

const context = (): InvocationContext => ({ getRemainingTimeInMillis: () => FUNCTION_MS });

/** A message of the queue, with the fields that the SQL of the rule selects; undefined fields are left out. */
function selected(topic: string, payload: string | Buffer, more: object = {}): SqsRecord {
  number += 1;
  const body = JSON.stringify({ payload: Buffer.from(payload as string).toString('base64'), topic, ...more });
  return { messageId: `m-${number}`, body, receiptHandle: 'r', attributes: {} } as unknown as SqsRecord;
}

const run = (...Records: readonly SqsRecord[]) => handler({ Records }, context());

const subscriber = async (filter: string) =>
  (await world.subscribers(1, { qos: 1 }, {}, filter))[0] as string;

describe('messages of AWS IoT Core', () => {
  it('are published under the topics of their mappings, shadows included', async () => {
    const thing = await subscriber('things/lamp/state');
    const shadow = await subscriber('shadows/lamp/shadow/update/accepted');
    const answer = await run(
      selected('things/lamp/state', 'on'),
      selected('$aws/things/lamp/shadow/update/accepted', '{}'),
    );
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(world.gateway.textsTo(thing)).toEqual(['on']);
    expect(world.gateway.textsTo(shadow)).toEqual(['{}']);
    expect(published).toBe(2);
  });

  it('have the content type, and one hop more', () => {
    const { body } = selected('things/a', '{}', { hops: ['1'], contentType: 'application/json' });
    const found = selectedOf(body);
    expect(found).toBeDefined();
    const options = { sources: readIotCoreSources([BRIDGE], 'test'), topicLevelsMax: 201 };
    expect(found && requestOf(options, found)).toMatchObject({
      topic: 'things/a',
      qos: 1,
      retain: false,
      properties: { contentType: 'application/json', userProperties: [['apus-bridge-hops', '2']] },
    });
  });

  it('may have any bytes as their payload, or none', async () => {
    const things = await subscriber('things/#');
    await run(selected('things/a', Buffer.from([0, 255, 128])), selected('things/b', ''));
    expect(world.gateway.textsTo(things)).toEqual([Buffer.from([0, 255, 128]).toString(), '']);
  });

  it('count the bridges that they have crossed, and stop at the limit', async () => {
    const things = await subscriber('things/#');
    await run(
      selected('things/a', 'once', { hops: ['1'] }),
      selected('things/a', 'too often', { hops: ['4'] }),
    );
    expect(world.gateway.textsTo(things)).toEqual(['once']);
    expect(skipped).toBe(1);
  });

  it.each([
    ['of a topic that no bridge has', () => selected('other/a', 'x')],
    ['larger than a message of the gateway', () => selected('things/a', Buffer.alloc(120_000))],
    ['of something else', () => ({ ...selected('things/a', 'x'), body: '{"topic":7}' })],
    ['that are no JSON', () => ({ ...selected('things/a', 'x'), body: 'no' })],
  ])('%s are left out and counted, and the others come', async (_, make) => {
    const things = await subscriber('things/#');
    expect(await run(make(), selected('things/a', 'good'))).toEqual({ batchItemFailures: [] });
    expect(world.gateway.textsTo(things)).toEqual(['good']);
    expect(skipped).toBe(1);
  });

  it('stay in the queue from the first one that cannot be stored, and none is lost', async () => {
    const things = await subscriber('things/#');
    const records = ['a', 'b', 'c'].map((name) => selected(`things/${name}`, name));
    hooks.before = () => {
      throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    };
    // The function fails, which Lambda counts, and all of the batch comes again.
    await expect(run(...records)).rejects.toThrow(MessagesWait);
    const unknown = selected('unknown', 'x');
    expect(await run(unknown, ...records)).toEqual({
      batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
    });
    expect([published, skipped]).toEqual([0, 1]);
    hooks = {};
    expect(await run(...records)).toEqual({ batchItemFailures: [] });
    expect(world.gateway.textsTo(things)).toEqual(['a', 'b', 'c']);
  });
});

describe('bridges from AWS IoT Core', () => {
  const with_ = (more: object) => () => readIotCoreSources([{ ...BRIDGE, ...more }], 'iotCore');

  it('become the SQL of IoT rules', () => {
    const sources = readIotCoreSources([BRIDGE], 'iotCore');
    expect(sources[0]?.in.map(iotRuleSql)).toEqual([
      "SELECT encode(*, 'base64') AS payload, topic() AS topic, get_user_properties('apus-bridge-hops') AS hops, get_mqtt_property('content_type') AS contentType FROM 'things/#'",
      "SELECT encode(*, 'base64') AS payload, topic() AS topic, get_user_properties('apus-bridge-hops') AS hops, get_mqtt_property('content_type') AS contentType FROM '$aws/things/+/shadow/update/accepted'",
    ]);
  });

  it.each<[string, object, string]>([
    ['that go out', { out: [{ filter: 'a' }] }, 'iotCore[0].out is for the node'],
    ['without topics', { in: [] }, 'iotCore[0].in is empty'],
    ['at QoS 2', { in: [{ filter: 'a', qos: 2 }] }, 'QoS'],
    ['with an apostrophe', { in: [{ filter: "a'; DROP" }] }, 'has an apostrophe'],
    ['with eight slashes', { in: [{ filter: 'a/b/c/d/e/f/g/h/i' }] }, 'has more than 7 slashes'],
    ['with two mappings of one topic', { in: [{ filter: 'a/#' }, { filter: 'a/b' }] }, 'topics in common'],
    ['into topics of the broker', { in: [{ filter: '$SYS/a' }] }, "broker's own"],
    ['with a field that is not known', { inn: [] }, 'inn'],
  ])('%s are refused', (_, more, message) => {
    expect(with_(more)).toThrow(message.replace('QoS', '"qos": 2'));
  });

  it('must not share a topic of IoT Core, since a message does not carry its rule', () => {
    expect(() =>
      readIotCoreSources(
        [BRIDGE, { ...BRIDGE, name: 'more', tenant: 'acme', in: [{ filter: 'things/+/state' }] }],
        'iotCore',
      ),
    ).toThrow('iotCore[1] has topics of IoT Core in common with "things"');
    expect(() => readIotCoreSources([BRIDGE, { ...BRIDGE, in: [{ filter: 'b' }] }], 'iotCore')).toThrow(
      'there are two "things"',
    );
  });
});
