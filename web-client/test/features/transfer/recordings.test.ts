import { expect, test } from 'vitest';
import { payloadBytes } from '../../../src/features/publish/draft-request.ts';
import { PAYLOAD_FILE_BYTES_MAX, payloadOfFile } from '../../../src/features/publish/payload-file.ts';
import { FileProblem } from '../../../src/features/transfer/file-problem.ts';
import type { FiledMessage } from '../../../src/features/transfer/message-record.ts';
import { readText } from '../../../src/features/transfer/read-file.ts';

function messagesOf(text: string): readonly FiledMessage[] {
  const content = readText(text);
  return content.type === 'subscriptions' ? [] : content.messages;
}

const textOf = ({ payload }: FiledMessage): string => new TextDecoder().decode(payload);

const MQTTX = [
  {
    clientId: 'mqttx_1',
    name: 'lab',
    protocol: 'ws',
    host: 'lab.example',
    messages: [
      {
        id: '2',
        createAt: '2026-05-01 12:34:57:500',
        out: false,
        payload: '{"a":1}',
        qos: 1,
        retain: true,
        topic: 'lab/1',
        properties: { contentType: 'application/json', userProperties: { a: ['1', '2'] } },
      },
      {
        id: '1',
        createAt: '2026-05-01 12:34:56:250',
        out: true,
        payload: 'hello',
        qos: 0,
        retain: false,
        topic: 'lab/0',
      },
    ],
  },
];

test('the messages that MQTTX exports with its connections are read, oldest first, with their times', () => {
  const messages = messagesOf(JSON.stringify(MQTTX));
  expect(messages).toMatchObject([
    { topic: 'lab/0', direction: 'published', qos: 0, retain: false },
    {
      topic: 'lab/1',
      direction: 'received',
      qos: 1,
      retain: true,
      properties: {
        contentType: 'application/json',
        userProperties: [
          ['a', '1'],
          ['a', '2'],
        ],
      },
    },
  ]);
  expect(messages.map(textOf)).toEqual(['hello', '{"a":1}']);
  expect(messages[0]?.atMs).toBe(new Date(2026, 4, 1, 12, 34, 56, 250).getTime());
  expect((messages[1]?.atMs ?? 0) - (messages[0]?.atMs ?? 0)).toBe(1_250);
});

test('an invalid message of MQTTX is named', () => {
  const broken = [{ ...MQTTX[0], messages: [MQTTX[0]?.messages[0], { topic: 'a/#', payload: '' }] }];
  const read = (): unknown => readText(JSON.stringify(broken));
  expect(read).toThrow(FileProblem);
  expect(read).toThrow(expect.objectContaining({ key: 'topic', place: { kind: 'message', number: 2 } }));
});

test('JSON Lines of other programs have a payload that is text or JSON', () => {
  const lines = [
    '{"topic":"a","payload":"x"}',
    '{"topic":"b","payload":{"v":[1,2]}}',
    '{"topic":"c","payload":3}',
  ];
  expect(messagesOf(lines.join('\n')).map(textOf)).toEqual(['x', '{"v":[1,2]}', '3']);
});

test('CSV of other programs may call the text payload', () => {
  const messages = messagesOf('topic,payload\na,"x, y"\nb,\n');
  expect(messages.map((message) => [message.topic, textOf(message)])).toEqual([
    ['a', 'x, y'],
    ['b', ''],
  ]);
});

test.each([
  ['JSON', Buffer.from('{"a":1}'), 'json'],
  ['text with the marks of Windows', Buffer.from('\ufeffa\r\nb'), 'text'],
  ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), 'hex'],
] as const)('%s from a file is in the editor byte for byte', async (_what, bytes, format) => {
  const draft = await payloadOfFile(new Blob([bytes]));
  expect(draft?.format).toBe(format);
  expect(Buffer.from(payloadBytes(draft?.payload ?? '', format) ?? [])).toEqual(bytes);
});

test('a file that is larger than a packet may be is refused, and one of just that size is not', async () => {
  const fits = new Blob([new Uint8Array(PAYLOAD_FILE_BYTES_MAX)]);
  expect(await payloadOfFile(fits)).toBeDefined();
  expect(await payloadOfFile(new Blob([fits, 'x']))).toBeUndefined();
});
