import { describe, expect, it, test } from 'vitest';
import { newProfile, newSubscription } from '../../../src/engine/new-profile.ts';
import type { ConnectionProfile, LoggedMessage } from '../../../src/engine/types.ts';
import { connectionsFile } from '../../../src/features/transfer/connections-file.ts';
import { FileProblem } from '../../../src/features/transfer/file-problem.ts';
import { FILE_BYTES_MAX, MESSAGES_MAX } from '../../../src/features/transfer/limits.ts';
import { type MessageFormat, messagesFile } from '../../../src/features/transfer/messages-file.ts';
import { readFile, readText } from '../../../src/features/transfer/read-file.ts';
import { message } from '../message.ts';

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

function textOf(messages: readonly LoggedMessage[], format: MessageFormat): string {
  return [...messagesFile(messages, format)].join('');
}

interface Expected {
  readonly key: string;
  readonly values?: object;
  readonly place?: object;
}

/** The client's error for a text. */
function problemOf(text: string): Expected | undefined {
  try {
    readText(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    const { key, values, place } = error;
    return { key, values, ...(place !== undefined && { place }) };
  }
}

describe.each(['json', 'jsonl'] as const)('messages as %s', (format) => {
  it('come back byte for byte, with everything that they had', () => {
    const properties = {
      payloadFormatIndicator: true,
      messageExpiryIntervalSeconds: 60,
      responseTopic: 'answers/here',
      correlationData: EVERY_BYTE,
      userProperties: [
        ['a', '1,"\n'],
        ['a', '=2'],
      ],
      contentType: 'text/plain; charset="utf-8"',
    } as const;
    const messages = [
      message('bytes', EVERY_BYTE, { atMs: 1_000.25, qos: 2, retain: true, dup: true, properties }),
      message('a/,"\n;b', '{"text": "Küste ☂"}', { atMs: 1_001, direction: 'published', qos: 1 }),
      message('empty', '', { atMs: 1_002 }),
      message('bom', Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), { atMs: 1_003 }),
      message('=SUM(A1)', '=1+1', { atMs: 1_004 }),
      message("'=b", '\r\n', { atMs: 1_005 }),
    ];
    const content = readText(textOf(messages, format));
    const read = content.type === 'messages' ? content.messages : [];
    const facts = ({
      atMs,
      direction,
      topic,
      payload,
      qos,
      retain,
    }: (typeof read)[number] | LoggedMessage) => ({
      atMs,
      direction,
      topic,
      payload: [...payload],
      qos,
      retain,
    });
    expect(read.map(facts)).toEqual(messages.map(facts));
    expect(read[0]?.properties).toEqual(properties);
  });

  it('are read whether or not there is one message alone', () => {
    const content = readText(textOf([message('one', 'x', { atMs: 5 })], format));
    expect(content).toMatchObject({ type: 'messages', messages: [{ topic: 'one', atMs: 5 }] });
  });

  it('name the entry that is no message, and its place', () => {
    const text = textOf([message('a', 'x'), message('b', 'y')], format);
    const base64 = btoa('y');
    const place = { json: ['entry', 2], jsonl: ['line', 2] }[format];
    expect(problemOf(text.replace(base64, '%%%'))).toMatchObject({
      key: 'payload',
      place: { kind: place[0], number: place[1] },
    });
  });
});

test('a topic alias belongs to its connection and is left out', () => {
  const text = textOf(
    [message('a', 'x', { properties: { topicAlias: 7, subscriptionIdentifiers: [3] } })],
    'jsonl',
  );
  expect(text).not.toContain('lias');
  expect(text).not.toContain('ubscription');
});

test('messages written by hand need few fields', () => {
  expect(readText('[{"topic": "a", "payloadText": "hello"}]')).toMatchObject({
    type: 'messages',
    messages: [{ topic: 'a', atMs: undefined, qos: 0, retain: false, direction: 'received' }],
  });
});

test.each<[string, string, Expected]>([
  ['nothing', ' \n', { key: 'empty' }],
  ['something else', 'Hello, this is a letter.', { key: 'unknown' }],
  ['other JSON', '{"hello": "world"}', { key: 'unknown' }],
  ['JSON that was cut', '{"format": "apus-messages", "version": 1, "mess', { key: 'json' }],
  [
    'a newer version',
    '{"format": "apus-messages", "version": 2}',
    { key: 'version', values: { version: '2' } },
  ],
  ['a format of somebody else', '{"format": "x", "version": 1}', { key: 'unknown' }],
  [
    'no list',
    '{"format": "apus-connections", "version": 1}',
    { key: 'list', values: { name: 'connections' } },
  ],
  ['an empty list', '{"format": "apus-messages", "version": 1, "messages": []}', { key: 'empty' }],
  [
    'a line that is none',
    '{"topic": "a", "payloadBase64": ""}\n\n{"topic": ',
    { key: 'line', place: { kind: 'line', number: 3 } },
  ],
  [
    'a line that is none, behind empty ones',
    '\n\n{"topic": "a", "payloadBase64": ""}\n{"topic": ',
    { key: 'line', place: { kind: 'line', number: 4 } },
  ],
  [
    'a wildcard as topic',
    '[{"topic": "a/#", "payloadText": ""}]',
    { key: 'topic', place: { kind: 'entry', number: 1 } },
  ],
  ['QoS 3', '[{"topic": "a", "payloadText": "", "qos": 3}]', { key: 'qos' }],
  ['no time', '[{"topic": "a", "payloadText": "", "time": "noon"}]', { key: 'time' }],
  ['no payload', '[{"topic": "a"}]', { key: 'payload' }],
  [
    'a connection without URL',
    '{"format": "apus-connections", "version": 1, "connections": [{"url": "ws://a/"}, {"name": "b"}]}',
    { key: 'connection', place: { kind: 'entry', number: 2 } },
  ],
])('%s is answered with what is wrong', (_what, text, problem) => {
  expect(problemOf(text)).toMatchObject(problem);
});

test('files that are too large are not read, and ones with too many messages not taken', async () => {
  const large = {
    size: FILE_BYTES_MAX + 1,
    text: () => Promise.reject(new Error('read')),
  } as unknown as Blob;
  await expect(readFile(large)).rejects.toMatchObject({ key: 'tooLarge', values: { max: 128 } });
  const line = '{"topic": "a", "payloadText": ""}\n';
  expect(readText(line.repeat(MESSAGES_MAX))).toMatchObject({ type: 'messages' });
  expect(problemOf(line.repeat(MESSAGES_MAX + 1))).toMatchObject({ key: 'tooManyMessages' });
});

describe('connections', () => {
  const profile: ConnectionProfile = {
    ...newProfile('wss://broker.example/mqtt?token=t0ken&region=eu', 'Wetter'),
    username: 'ada',
    userProperties: [
      ['region', 'eu'],
      ['api-key', 'k3y'],
    ],
    needs: { password: true, token: false },
    storeSecrets: true,
    subscriptions: [{ ...newSubscription('$share/g/a/#'), alias: 'all', color: 'teal', noLocal: true }],
  };
  const secrets = { password: 'hunter2' };

  it('leave their secrets behind unless the user asked for them', () => {
    const text = connectionsFile([profile], undefined);
    expect(text).not.toMatch(/t0ken|k3y|hunter2|storeSecrets/);
    expect(readText(text)).toMatchObject({
      type: 'connections',
      connections: [
        {
          profile: {
            name: 'Wetter',
            username: 'ada',
            needs: { password: true, token: true },
            storeSecrets: false,
          },
        },
      ],
    });
  });

  it('come back whole with them', () => {
    const content = readText(connectionsFile([profile], () => secrets));
    expect(content).toMatchObject({
      connections: [
        {
          secrets: { password: 'hunter2', token: 't0ken' },
          profile: {
            url: 'wss://broker.example/mqtt?region=eu',
            userProperties: profile.userProperties,
            storeSecrets: false,
            subscriptions: [{ filter: '$share/g/a/#', alias: 'all', color: 'teal', noLocal: true }],
          },
        },
      ],
    });
    const [read] = content.type === 'connections' ? content.connections : [];
    expect(read?.profile.id).not.toBe(profile.id);
  });

  it('are read from what the share dialog shows, too', () => {
    expect(readText(JSON.stringify({ url: 'ws://a/mqtt', name: 'shared' }))).toMatchObject({
      connections: [{ profile: { name: 'shared' } }],
    });
  });
});
