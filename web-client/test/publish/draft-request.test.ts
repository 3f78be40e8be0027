import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { MessageFields } from '../../src/engine/log/message.ts';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import type { MessageProperties } from '../../src/engine/types.ts';
import {
  correlationBytes,
  correlationTextOf,
  draftOf,
  jsonProblem,
  payloadBytes,
  requestOf,
} from '../../src/features/publish/draft-request.ts';
import { type Draft, EMPTY_DRAFT, NO_PROPERTIES } from '../../src/state/draft.ts';
import { messageFields } from '../features/message.ts';

const DRAFT: Draft = { ...EMPTY_DRAFT, topic: 'a/b', payload: '{"a":1}' };

function message(payload: Uint8Array, properties: MessageProperties = {}): MessageFields {
  return messageFields('replies/1', payload, { qos: 1, packetId: 1, properties });
}

function logged(fields: MessageFields) {
  const log = new BoundedMessageLog({ messagesMax: 5, bytesMax: 10_000 });
  log.append([fields]);
  const found = log.at(0);
  if (found === undefined) throw new Error('the log has lost it');
  return found;
}

describe('the bytes of a payload', () => {
  test.each<[string, Draft['format'], number[] | undefined]>([
    ['hé', 'text', [0x68, 0xc3, 0xa9]],
    ['{"a":', 'json', [...Buffer.from('{"a":')]],
    ['00 ff\n0A', 'hex', [0, 255, 10]],
    ['00:ff,0a', 'hex', [0, 255, 10]],
    ['0', 'hex', undefined],
    ['zz', 'hex', undefined],
    ['AP8K', 'base64', [0, 255, 10]],
    ['_-8', 'base64', [255, 239]],
    ['%%', 'base64', undefined],
    ['', 'hex', []],
  ])('%j as %s', (text, format, expected) => {
    const bytes = payloadBytes(text, format);
    expect(bytes && [...bytes]).toEqual(expected);
  });

  test('of a large text are read once, also where a small text is asked for between', () => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encode');
    onTestFinished(() => encode.mockRestore());
    const large = 'x'.repeat(1_048_576);
    for (const text of [large, '', large, 'small', large]) {
      expect(payloadBytes(text, 'text')).toHaveLength(text.length);
    }
    expect(encode.mock.calls.filter(([text]) => text === large)).toHaveLength(1);
  });
});

test('the JSON of a large text is parsed once, also where a small text is asked about between', () => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const large = `"${'y'.repeat(1_048_576)}"`;
  for (const text of [large, '{}', large]) expect(jsonProblem(text)).toBeUndefined();
  expect(parse.mock.calls.filter(([text]) => text === large)).toHaveLength(1);
});

test('an error of a draft is told by its field', () => {
  expect(requestOf({ ...DRAFT, topic: '' }, 5)).toEqual({ field: 'topic', key: 'topicMissing' });
  expect(requestOf({ ...DRAFT, format: 'hex', payload: 'x' }, 5)).toEqual({ field: 'payload', key: 'hex' });
  expect(requestOf({ ...DRAFT, format: 'base64', payload: '%' }, 5)).toEqual({
    field: 'payload',
    key: 'base64',
  });
});

test('an alias may stand for the topic', () => {
  const properties = { ...NO_PROPERTIES, topicAlias: 2 };
  expect(requestOf({ ...DRAFT, topic: '', properties }, 5)).toMatchObject({
    topic: '',
    properties: { topicAlias: 2 },
  });
});

test('empty fields are not sent, and MQTT 3.1.1 has no properties at all', () => {
  const properties = {
    ...NO_PROPERTIES,
    contentType: 'text/plain',
    userProperties: [
      ['', 'x'],
      ['a', ''],
    ] as const,
  };
  const request = requestOf({ ...DRAFT, properties }, 5);
  const sent = 'properties' in request ? request.properties : undefined;
  expect(Object.entries(sent ?? {}).filter(([, value]) => value !== undefined)).toEqual([
    ['contentType', 'text/plain'],
    ['userProperties', [['a', '']]],
  ]);
  expect(requestOf({ ...DRAFT, properties }, 4)).toMatchObject({ properties: undefined });
});

test.each([
  ['text', Buffer.from('42')],
  ['bytes', Buffer.from([0, 255])],
  ['text that looks like bytes', Buffer.from('0x00')],
])('correlation data survives the editor: %s', (_name, bytes) => {
  expect([...correlationBytes(correlationTextOf(bytes))]).toEqual([...bytes]);
});

test('a message becomes a draft, and the draft the same message', () => {
  const properties: MessageProperties = {
    payloadFormatIndicator: true,
    messageExpiryIntervalSeconds: 60,
    responseTopic: 'back',
    correlationData: new Uint8Array([0, 1]),
    userProperties: [
      ['a', '1'],
      ['a', '2'],
    ],
    contentType: 'application/octet-stream',
  };
  for (const payload of [Buffer.from('{"a":[1]}'), Buffer.from('words'), Buffer.from([0, 1, 254])]) {
    const original = logged(message(payload, properties));
    const request = requestOf(draftOf(original), 5);
    if ('key' in request) throw new Error(`the draft is wrong: ${request.key}`);
    expect([...request.payload]).toEqual([...payload]);
    expect(request.properties).toEqual({ ...properties, topicAlias: undefined });
  }
  expect(draftOf(logged(message(Buffer.from('{"a":[1]}')))).format).toBe('json');
  expect(draftOf(logged(message(Buffer.from([0, 1, 254])))).format).toBe('hex');
});
