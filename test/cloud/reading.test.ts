import type { PublishFunction } from '@apus/aws/lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#', messagesMax: 5 },
  { name: 'one', topicFilter: 'one' },
];

const secretOf = (name: string) => name.padEnd(40, 'x');
const key = (name: string, subscribe?: readonly string[], tenant?: string) => ({
  name,
  key: secretOf(name),
  ...(subscribe && { subscribe }),
  ...(tenant !== undefined && { tenant }),
});
const KEYS = JSON.stringify({
  keys: [
    key('writer'),
    key('reader', ['chat/#', '$presence/hall/+']),
    key('narrow', ['chat/a']),
    key('rooms', ['#']),
    key('other', ['#', '$presence/+/+'], 'elsewhere'),
    key('eager', ['chat/#']),
  ],
});

let world: InProcessWorld;
let program: Program;
let handler: PublishFunction;

beforeAll(async () => {
  world = await startCloudInProcess({ seed: 4, streams: STREAMS, presence: true });
  program = new Program(world.emulator, 'publisher');
  handler = world.publishFunction(KEYS);
  for (const payload of ['1', '2', '3']) await program.mqtt.publishAsync('chat/a', payload, { qos: 1 });
  await program.mqtt.publishAsync('$presence/hall/ann', 'here', { qos: 1 });
  await program.mqtt.publishAsync('$presence/hall/bob', 'away', { qos: 1 });
});

afterAll(async () => {
  await program.mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

async function read(name: string, url: string, method = 'GET') {
  const [rawPath = '', rawQueryString = ''] = url.split('?');
  const { statusCode, headers, body } = await handler(
    {
      rawPath,
      rawQueryString,
      headers: { authorization: `Bearer ${secretOf(name)}` },
      requestContext: { http: { method, sourceIp: '192.0.2.1' } },
    },
    { getRemainingTimeInMillis: () => 29_000 },
  );
  return { status: statusCode, headers, body: JSON.parse(body) };
}

const textsOf = (body: { data: { payload: string }[] }) =>
  body.data.map(({ payload }) => Buffer.from(payload, 'base64').toString());

describe('GET /api/v5/streams at a deployment', () => {
  it('lists the streams that the key may subscribe to', async () => {
    const { status, body } = await read('reader', '/api/v5/streams');
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ name: 'chat', topic_filter: 'chat/#', topics: 1, messages: 3 }]);
    expect((await read('writer', '/api/v5/streams')).body).toEqual({ data: [] });
    expect((await read('narrow', '/api/v5/streams')).body).toEqual({ data: [] });
  });

  it('shows nothing of another tenant [SEC-TENANT-1]', async () => {
    const { body } = await read('other', '/api/v5/streams');
    expect(body.data).toMatchObject([{ messages: 0 }, { messages: 0 }]);
    expect((await read('other', '/api/v5/streams/chat/messages?topic=chat/a')).body.data).toEqual([]);
    expect((await read('other', '/api/v5/presence/hall')).body.data).toEqual([]);
  });
});

describe('GET /api/v5/streams/NAME/messages at a deployment', () => {
  it('pages over a topic, forward and backward', async () => {
    const url = '/api/v5/streams/chat/messages?topic=chat%2Fa&limit=2';
    const first = await read('narrow', url);
    expect(textsOf(first.body)).toEqual(['1', '2']);
    const second = await read('narrow', `${url}&since=${first.body.meta.next}`);
    expect([textsOf(second.body), second.body.meta]).toEqual([['3'], { next: null }]);
    expect(textsOf((await read('narrow', `${url}&reverse=true`)).body)).toEqual(['3', '2']);
  });

  it('refuses a topic that the key may not subscribe to, and what makes no sense', async () => {
    const statusOf = async (name: string, query: string) =>
      (await read(name, `/api/v5/streams/${query}`)).status;
    expect(await statusOf('writer', 'chat/messages?topic=chat/a')).toBe(403);
    expect(await statusOf('narrow', 'chat/messages?topic=chat/b')).toBe(403);
    expect(await statusOf('reader', 'chat/messages?topic=chat/%23')).toBe(400);
    expect(await statusOf('reader', 'chat/messages?topic=chat/a&limit=0')).toBe(400);
    expect(await statusOf('reader', 'nothing/messages?topic=chat/a')).toBe(404);
    expect(await statusOf('reader', '%ff/messages')).toBe(400);
    expect(await statusOf('reader', 'chat/messages?topic=chat/a&since=another-7')).toBe(410);
    expect(await statusOf('stranger', 'chat/messages?topic=chat/a')).toBe(401);
  });

  it('allows GET only', async () => {
    expect(await read('reader', '/api/v5/streams', 'POST')).toMatchObject({
      status: 405,
      headers: { allow: 'GET' },
    });
  });
});

describe('GET /api/v5/presence/ROOM at a deployment', () => {
  it('pages over the members', async () => {
    const first = await read('reader', '/api/v5/presence/hall?limit=1');
    expect(first.body.data).toMatchObject([{ member: 'ann', clientids: ['publisher'] }]);
    expect(textsOf(first.body)).toEqual(['here']);
    const second = await read('reader', `/api/v5/presence/hall?after=${first.body.meta.next}`);
    expect(second.body).toMatchObject({ data: [{ member: 'bob' }], meta: { next: null } });
  });

  it('finds a room, or a stream, that is named in the query', async () => {
    expect((await read('reader', '/api/v5/presence/?room=hall')).body.data).toHaveLength(2);
    const messages = await read('reader', '/api/v5/streams//messages?name=chat&topic=chat/a');
    expect(textsOf(messages.body)).toEqual(['1', '2', '3']);
  });

  it('needs a rule of its own, and a room of one level', async () => {
    expect((await read('rooms', '/api/v5/presence/hall')).status).toBe(403);
    expect((await read('reader', '/api/v5/presence/cellar')).status).toBe(403);
    expect((await read('reader', '/api/v5/presence/a%2Fb')).status).toBe(400);
    expect((await read('reader', '/api/v5/presence/%2B')).status).toBe(400);
    expect((await read('reader', '/api/v5/presence/hall?limit=1001')).status).toBe(400);
    expect((await read('reader', '/api/v5/presence/hall?limit=1&limit=2')).status).toBe(400);
    expect((await read('reader', '/api/v5/presence/')).status).toBe(400);
  });
});

it('reads in a loop are bounded, and do not cause publishes to be refused [SEC-COST-2]', async () => {
  const statuses = new Set<number>();
  for (let count = 0; count < 60; count++) statuses.add((await read('eager', '/api/v5/streams')).status);
  expect([...statuses]).toEqual([200, 429]);
  expect((await read('eager', '/api/v5/publish')).status).toBe(405);
});
