import { Violation } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../src/publish/read-message.ts';

const LIMITS = { topicLevelsMax: 10, publishBytesMax: 1_000 };

const read = (value: unknown) => readMessage(value, LIMITS);

describe('a message of a request', () => {
  it('needs a topic and a payload, and nothing else', () => {
    expect(read({ topic: 'a', payload: 'é' })).toEqual({
      topic: 'a',
      payload: Buffer.from('é'),
      qos: 0,
      retain: false,
      properties: {},
    });
  });

  it('may have all properties of a PUBLISH', () => {
    const message = {
      topic: 'a/b',
      payload: 'AP8=',
      payload_encoding: 'base64',
      qos: 2,
      retain: true,
      clientid: 'of older versions',
      properties: {
        payload_format_indicator: 0,
        message_expiry_interval: 4_294_967_295,
        response_topic: 'answers',
        correlation_data: '/wA=',
        correlation_data_encoding: 'base64',
        user_properties: { one: '1', several: ['x', 'y'] },
        content_type: 'text/plain',
      },
    };
    expect(read(message)).toEqual({
      topic: 'a/b',
      payload: Buffer.from([0, 255]),
      qos: 2,
      retain: true,
      properties: {
        payloadFormatIndicator: 0,
        messageExpiryInterval: 4_294_967_295,
        responseTopic: 'answers',
        correlationData: Buffer.from([255, 0]),
        userProperties: [
          ['one', '1'],
          ['several', 'x'],
          ['several', 'y'],
        ],
        contentType: 'text/plain',
      },
    });
  });

  it('may have null in place of an absent field', () => {
    expect(read({ topic: 'a', payload: '', qos: null, properties: null })).toMatchObject({ qos: 0 });
  });

  it('may be as large as can be delivered, and no larger', () => {
    // Fixed header 3, topic 3, packet id 2, properties 1.
    expect(read({ topic: 'a', payload: 'x'.repeat(991), qos: 1 })).not.toBeInstanceOf(Violation);
    expect(read({ topic: 'a', payload: 'x'.repeat(992), qos: 1 })).toMatchObject({
      reasonCode: 0x95,
      reason: 'The message takes 1001 bytes as a PUBLISH; at most 1000 can be delivered.',
    });
  });
});

const good = { topic: 'a', payload: 'x' };
const withProperties = (properties: unknown) => ({ ...good, properties });

describe('an error is a sentence', () => {
  it.each([
    ['text', 'A message is an object with a topic and a payload, not "text".'],
    [[], 'A message is an object with a topic and a payload, not [].'],
    [{ payload: 'x' }, '"topic" is missing.'],
    [{ topic: 7, payload: 'x' }, '"topic" is a string, not 7.'],
    [{ topic: 'a' }, '"payload" is missing.'],
    [{ topic: 'a', payload: { json: true } }, '"payload" is a string, not {"json":true}.'],
    [{ topic: 'a', payload: 'x\ud800' }, '"payload" has half of a surrogate pair in it.'],
    [
      { topic: 'a', payload: 'AP8', payload_encoding: 'base64' },
      '"payload" is said to be base64 (RFC 4648, with padding) and is not.',
    ],
    [{ ...good, payload_encoding: 'hex' }, '"payload_encoding" is plain or base64, not "hex".'],
    [{ ...good, qos: 3 }, '"qos" is a whole number from 0 to 2, not 3.'],
    [{ ...good, qos: '1' }, '"qos" is a whole number from 0 to 2, not "1".'],
    [{ ...good, retain: 'true' }, '"retain" is true or false, not "true".'],
    [
      { ...good, retained: true },
      '"retained" is not known here; there are topic, payload, payload_encoding, qos, retain, properties and clientid.',
    ],
    [withProperties(['a']), '"properties" is an object, not ["a"].'],
    [
      withProperties({ payload_format_indicator: 2 }),
      '"properties.payload_format_indicator" is a whole number from 0 to 1, not 2.',
    ],
    [
      withProperties({ message_expiry_interval: -1 }),
      '"properties.message_expiry_interval" is a whole number from 0 to 4294967295, not -1.',
    ],
    [withProperties({ content_type: 'a\0b' }), '"properties.content_type" has no U+0000.'],
    [
      withProperties({ content_type: 'a'.repeat(65_536) }),
      '"properties.content_type" has at most 65535 bytes.',
    ],
    [
      withProperties({ correlation_data: '?', correlation_data_encoding: 'base64' }),
      '"properties.correlation_data" is said to be base64 and is not.',
    ],
    [
      withProperties({ correlation_data: 'a'.repeat(65_536) }),
      '"properties.correlation_data" has at most 65535 bytes.',
    ],
    [
      withProperties({ user_properties: [['a', 'b']] }),
      '"properties.user_properties" is an object, not [["a","b"]].',
    ],
    [
      withProperties({ user_properties: { a: 1 } }),
      '"properties.user_properties.a" is a string or a list of strings, not 1.',
    ],
    [
      withProperties({ user_properties: { a: ['x', 'y\udc00'] } }),
      '"properties.user_properties.a" has half of a surrogate pair in it.',
    ],
  ] as [unknown, string][])('%#', (value, reason) => {
    expect(read(value)).toEqual(new Violation(0x83, reason));
  });

  it.each(['', 'a/+', 'a/#', 'a\0', 'a/b/c/d/e/f/g/h/i/j/k'])(
    'the topic %j, with MQTT’s reason code',
    (topic) => {
      expect(read({ ...good, topic })).toMatchObject({ reasonCode: 0x90 });
    },
  );

  it('a response topic with a wildcard [MQTT-3.3.2-14]', () => {
    expect(read(withProperties({ response_topic: 'a/+' }))).toMatchObject({ reasonCode: 0x90 });
  });

  it('a payload that is declared UTF-8 and is not', () => {
    const binary = { topic: 'a', payload: '/w==', payload_encoding: 'base64' };
    expect(read({ ...binary, properties: { payload_format_indicator: 1 } })).toMatchObject({
      reasonCode: 0x99,
    });
  });
});
