import { describe, expect, test } from 'vitest';
import { StartError } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#' },
  { name: 'one', topicFilter: 'one' },
];

interface Listed {
  readonly data: readonly { readonly payload: string }[];
}

async function nodeWith(payloads: readonly string[], topic = 'chat/a') {
  const { httpUrl } = await nodeForTest({ streams: STREAMS });
  for (const payload of payloads) {
    const body = JSON.stringify({ topic, payload });
    const headers = { 'content-type': 'application/json' };
    await fetch(new URL('/api/v5/publish', httpUrl), { method: 'POST', headers, body });
  }
  const list = async (query: string, name = 'chat') => {
    const { status, body } = await call(httpUrl, `/streams/${name}/messages?${query}`);
    const texts = (body as Listed).data?.map(({ payload }) => Buffer.from(payload, 'base64').toString());
    return { status, texts, body };
  };
  return { httpUrl, list };
}

describe('GET /api/v5/streams/NAME/messages', () => {
  test('takes a time', async () => {
    const { list } = await nodeWith(['1', '2']);
    expect((await list('topic=chat/a&since=2020-01-01T00:00:00Z')).texts).toEqual(['1', '2']);
    expect((await list(`topic=chat/a&since=${Date.now() + 60_000}`)).texts).toEqual([]);
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
    ['one', 'since=yesterday', 400, /since is a position/],
  ])('of %s with "%s" is answered %d', async (name, query, status, message) => {
    const { list } = await nodeWith(['1'], 'one');
    const answer = await list(query, name);
    expect(answer.status).toBe(status);
    expect((answer.body as { readonly message: string }).message).toMatch(message);
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
