import { describe, expect, test } from 'vitest';
import { StartError } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#', messagesMax: 5, key: 'user' },
  { name: 'one', topicFilter: 'one' },
];

interface Listed {
  readonly data: readonly { readonly position: string; readonly ts: number; readonly payload: string }[];
  readonly meta: { readonly next: string | null };
}

async function nodeWith(payloads: readonly string[], topic = 'chat/a') {
  const { httpUrl } = await nodeForTest({ streams: STREAMS });
  for (const payload of payloads) {
    const body = JSON.stringify({ topic, payload, properties: { user_properties: { user: 'ann' } } });
    const headers = { 'content-type': 'application/json' };
    await fetch(new URL('/api/v5/publish', httpUrl), { method: 'POST', headers, body });
  }
  const list = async (query: string, name = 'chat') => {
    const { status, body } = await call(httpUrl, `/streams/${name}/messages?${query}`);
    const { data, meta } = body as Listed;
    const texts = data?.map(({ payload }) => Buffer.from(payload, 'base64').toString());
    return { status, data, texts, next: meta?.next, body };
  };
  return { httpUrl, list };
}

describe('GET /api/v5/streams', () => {
  test('lists the streams, with what they hold', async () => {
    const { httpUrl } = await nodeWith(['a', 'b']);
    const { body } = await call(httpUrl, '/streams');
    expect(body).toMatchObject({
      data: [
        { name: 'chat', topic_filter: 'chat/#', messages_max: 5, key: 'user', topics: 1, messages: 2 },
        { name: 'one', keep_seconds: 86_400, snapshot: false, topics: 0, messages: 0, bytes: 0 },
      ],
    });
  });

  test('is empty where none is declared', async () => {
    expect(await call((await nodeForTest()).httpUrl, '/streams')).toEqual({
      status: 200,
      body: { data: [] },
    });
  });
});

describe('GET /api/v5/streams/NAME/messages', () => {
  test('pages forward from the oldest that is kept, and backward from the newest', async () => {
    const { list } = await nodeWith(['1', '2', '3', '4', '5', '6']);
    const first = await list('topic=chat/a&limit=3');
    expect(first.texts).toEqual(['2', '3', '4']);
    expect(first.data[0]).toMatchObject({ key: 'ann', topic: 'chat/a' });
    const second = await list(`topic=chat/a&limit=3&since=${first.next}`);
    expect([second.texts, second.next]).toEqual([['5', '6'], null]);
    const newest = await list('topic=chat/a&limit=3&reverse=true');
    expect(newest.texts).toEqual(['6', '5', '4']);
    const older = await list(`topic=chat/a&limit=3&reverse=true&since=${newest.next}`);
    expect([older.texts, older.next]).toEqual([['3', '2'], null]);
  });

  test('takes a time', async () => {
    const { list } = await nodeWith(['1', '2']);
    expect((await list('topic=chat/a&since=2020-01-01T00:00:00Z')).texts).toEqual(['1', '2']);
    expect((await list(`topic=chat/a&since=${Date.now() + 60_000}`)).texts).toEqual([]);
  });

  test('says that a position is lost with 410', async () => {
    const { list } = await nodeWith(['1']);
    expect(await list('topic=chat/a&since=other-1')).toMatchObject({
      status: 410,
      body: { code: 'POSITION_LOST' },
    });
  });

  test('does not open a topic by looking at it', async () => {
    const { httpUrl, list } = await nodeWith([]);
    expect((await list('topic=chat/none')).texts).toEqual([]);
    expect((await list('', 'one')).texts).toEqual([]);
    expect((await call(httpUrl, '/streams')).body).toMatchObject({ data: [{ topics: 0 }, { topics: 0 }] });
  });

  test.each([
    ['none', '', 404, /no stream "none"/],
    ['chat', '', 400, /name of a topic/],
    ['chat', 'topic=chat/%2B', 400, /name of a topic/],
    ['chat', 'topic=other', 400, /keeps chat/],
    ['one', 'limit=0', 400, /from 1 to 1000/],
    ['one', 'reverse=yes', 400, /true or false/],
  ])('of %s with "%s" is answered %d', async (name, query, status, message) => {
    const { list } = await nodeWith(['1'], 'one');
    const answer = await list(query, name);
    expect(answer.status).toBe(status);
    expect((answer.body as { readonly message: string }).message).toMatch(message);
  });

  test('with an invalid `since` is answered 400', async () => {
    const { list } = await nodeWith(['1'], 'one');
    expect((await list('since=yesterday', 'one')).status).toBe(400);
  });
});

describe('streams of startNode', () => {
  test.each<[readonly object[], RegExp]>([
    [[{ topicFilter: 'a' }], /name has 1 to 64/],
    [[{ name: 'a/b', topicFilter: 'a' }], /name has 1 to 64/],
    [[{ name: 'a', topicFilter: 'a/#/b' }], /#/],
    [[{ name: 'a', topicFilter: '$SYS/#' }], /does not begin/],
    [[{ name: 'a', topicFilter: 'a', keepSeconds: 0 }], /keepSeconds is a whole number/],
    [[{ name: 'a', topicFilter: 'a', keep: 1 }], /no field "keep"/],
    [
      [
        { name: 'a', topicFilter: 'a' },
        { name: 'a', topicFilter: 'b' },
      ],
      /two streams "a"/,
    ],
    [
      [
        { name: 'a', topicFilter: 'a/+' },
        { name: 'b', topicFilter: '+/b' },
      ],
      /topics in common/,
    ],
  ])('%j are refused with a sentence', async (streams, sentence) => {
    const started = nodeForTest({ streams: streams as never });
    await expect(started).rejects.toThrow(sentence);
    await expect(started).rejects.toBeInstanceOf(StartError);
  });
});
