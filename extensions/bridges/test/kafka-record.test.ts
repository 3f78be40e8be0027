import { messageOf } from '@apus/broker/samples';
import { expect, test } from 'vitest';
import type { KafkaBridgeConfiguration } from '../src/configuration/kafka.ts';
import { readBridges } from '../src/index.ts';
import { type KafkaRecord, recordOf, requestOf } from '../src/kafka/record.ts';
import { BRIDGES_PLACE } from './support/bridged.ts';

const [{ in: into, out, ...common }] = readBridges(
  {
    bridges: [
      {
        ...{ name: 'b', kafka: { brokers: ['k:9092'] } },
        in: [{ topic: 't', to: 'in/{key}' }],
        out: [{ filter: 'out/#', topic: 'other' }],
      },
    ],
  },
  BRIDGES_PLACE,
) as readonly [KafkaBridgeConfiguration];
const LIMITS = { topicLevelsMax: 100, publishBytesMax: 1e6 };

const pairs = (headers: ReadonlyMap<Buffer, Buffer>) => Array.from(headers, (pair) => pair.map(String));

function requestFor(headers: readonly (readonly [string, string])[]) {
  const record: KafkaRecord = {
    ...{ topic: 't', partition: 0, offset: 0n, key: Buffer.from('k'), value: Buffer.from('v') },
    headers: new Map(headers.map(([name, value]) => [Buffer.from(name), Buffer.from(value)])),
  };
  const request = requestOf(record, into[0] as never, common, LIMITS);
  if (request === 'looped' || 'problem' in request) throw new Error('the record is no message');
  return request;
}

test('headers become user properties in their order, and headers again', () => {
  const headers = [
    ['trace', '1'],
    ['trace', '2'],
    ['empty', ''],
    ['Straße', 'ß'],
  ] as const;
  const { userProperties = [] } = requestFor(headers).properties;
  expect(userProperties).toEqual([...headers, ['apus-bridge-hops', '1']]);
  const message = messageOf({ topic: 'out/a' });
  expect(pairs(recordOf(out[0] as never, message, userProperties).headers).slice(2)).toEqual(userProperties);
});

test('no property of a client stands in the place of a header of the bridge, or behind it', () => {
  const spoofed = ['mqtt-topic', 'mqtt-message-id', 'content-type'].map((name) => [name, 'spoofed'] as const);
  const message = messageOf({ topic: 'out/a', id: 'id', properties: { contentType: 'text' } });
  expect(pairs(recordOf(out[0] as never, message, spoofed).headers)).toEqual([
    ['mqtt-topic', 'out/a'],
    ['mqtt-message-id', 'id'],
    ['content-type', 'text'],
  ]);
});
