import { generate } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { toMqttProperties } from '../../src/engine/host/mqtt-properties.ts';
import type { MessageProperties, Qos } from '../../src/engine/types.ts';
import { publishLength } from '../../src/engine/wire/publish-length.ts';

const EVERYTHING: MessageProperties = {
  payloadFormatIndicator: true,
  messageExpiryIntervalSeconds: 60,
  topicAlias: 1,
  responseTopic: 'r/ä',
  correlationData: Buffer.from([1, 2, 3]),
  userProperties: [
    ['a', '1'],
    ['a', '€'],
  ],
  contentType: 'text/plain',
};

const SIZES = [0, 1, 100, 121, 122, 130, 16_370, 16_384, 2_097_140, 2_097_152];

test.each([4, 5] as const)(
  'counts what mqtt.js sends in version %i, around each length of the header',
  (protocolVersion) => {
    for (const size of SIZES) {
      for (const qos of [0, 1, 2] as const satisfies readonly Qos[]) {
        for (const properties of [{}, EVERYTHING]) {
          const payload = Buffer.alloc(size);
          const packet = { cmd: 'publish', topic: 'ä/b', payload, qos, retain: false, dup: false } as const;
          const bytes = generate(
            { ...packet, messageId: 7, properties: toMqttProperties(properties) },
            { protocolVersion },
          );
          expect(publishLength({ topic: 'ä/b', payload, qos, properties }, protocolVersion)).toBe(
            bytes.length,
          );
        }
      }
    }
  },
);
