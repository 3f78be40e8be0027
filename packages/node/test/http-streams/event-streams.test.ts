import { rulesOfLists } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { EventClient } from '../../../../test/support/event-client.ts';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { HEARTBEAT_SECONDS } from '../../src/http-streams/event-stream.ts';
import { type NodeOptions, parseListenAddress } from '../../src/index.ts';
import { call } from '../support/call-api.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';
import { nodeForTest } from '../support/nodes.ts';

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#', messagesMax: 3 },
  { name: 'prices', topicFilter: 'prices/+', snapshot: true },
];

const ADA = { tenant: 'default', name: 'ada', rules: rulesOfLists(['#'], ['#']) };

/** A node, and a publisher whose messages have been handed on when it has the answer. */
async function furnished(options: NodeOptions = {}) {
  const node = await nodeForTest({ streams: STREAMS, ...options });
  const { client } = await RawClient.connect(node.url, { clientId: 'publisher' });
  const publish = async (topic: string, payload: string | Uint8Array, fields: object = {}) => {
    client.send({
      cmd: 'publish',
      topic,
      payload,
      qos: 1,
      messageId: 1,
      retain: false,
      dup: false,
      ...fields,
    });
    await client.expect('puback');
  };
  const open = (query: string, headers?: Record<string, string>) =>
    EventClient.open(node.httpUrl, query, headers);
  return { node, publish, open };
}

/** A stream whose first block, which tells an id alone, has come. */
async function opened(open: (query: string) => Promise<EventClient>, query: string) {
  const events = await open(query);
  return { events, first: await events.next() };
}

describe('a message is one event', () => {
  test('with its text and its user properties, under the headers of a stream', async () => {
    const { publish, open } = await furnished();
    const { events } = await opened(open, 'topic=news/+');
    expect(events.status).toBe(200);
    expect(events.header('content-type')).toBe('text/event-stream');
    expect(events.header('cache-control')).toBe('no-store');
    const properties = {
      contentType: 'text/plain',
      userProperties: { a: ['1', '2'], __proto__: null, constructor: 'b' },
    };
    await publish('news/a', 'zwei\r\nZeilen 😀\u0000\n\ndata: x', { properties });
    expect(await events.event()).toEqual({
      type: 'message',
      data: {
        topic: 'news/a',
        payload: 'zwei\r\nZeilen 😀\u0000\n\ndata: x',
        retain: false,
        properties: { content_type: 'text/plain', user_properties: { a: ['1', '2'], constructor: 'b' } },
      },
    });
  });

  test('with base64 and a mark, where it is no text', async () => {
    const { publish, open } = await furnished();
    const { events } = await opened(open, 'topic=news/+');
    await publish('news/a', Buffer.from([0xff, 0xfe]));
    expect(await events.message()).toMatchObject({ payload: '//4=', payload_encoding: 'base64' });
    await publish('news/a', '');
    expect(await events.message()).toEqual({ topic: 'news/a', payload: '', retain: false, properties: {} });
  });

  test('and retained ones come first, marked as such', async () => {
    const { publish, open } = await furnished();
    await publish('news/a', 'kept', { retain: true });
    await publish('news/b', 'kept too', { retain: true });
    const events = await open('topic=news/a&topic=news/b&topic=other');
    expect(await events.message()).toMatchObject({ payload: 'kept', retain: true });
    expect(await events.message()).toMatchObject({ payload: 'kept too', retain: true });
    await publish('other', 'live', { retain: true });
    expect(await events.message()).toMatchObject({ topic: 'other', retain: false });
  });

  test('also where retained messages are more than are held until all filters are granted', async () => {
    const { publish, open } = await furnished();
    const large = 'x'.repeat(100_000);
    for (let index = 0; index < 5; index += 1) await publish(`news/${index}`, large, { retain: true });
    const events = await open('topic=news/+&topic=other');
    for (let index = 0; index < 5; index += 1)
      expect(await events.message()).toMatchObject({ payload: large, retain: true });
    expect(await events.next()).toEqual({ type: 'message', id: '0' });
    await publish('other', 'live');
    expect((await events.message()).payload).toBe('live');
  });
});

describe('Last-Event-ID', () => {
  test('goes on without a gap: one topic', async () => {
    const { publish, open } = await furnished();
    const { events, first } = await opened(open, 'topic=chat/a');
    await publish('chat/a', '1');
    const { id = '', data } = await events.event();
    expect(data).toMatchObject({ payload: '1', properties: { user_properties: { 'stream-position': id } } });
    events.close();
    await publish('chat/a', '2');
    await publish('chat/a', '3');
    const again = await open('topic=chat/a', { 'last-event-id': id });
    expect(await again.next()).toEqual({ type: 'message', id });
    expect((await again.message()).payload).toBe('2');
    expect((await again.message()).payload).toBe('3');
    await publish('chat/a', '4');
    expect((await again.message()).payload).toBe('4');
    // The stream that had not begun yet had an id, too.
    const anew = await open('topic=chat/a', { 'last-event-id': first.id ?? '' });
    expect((await anew.event()).type).toBe('gap');
  });

  test('goes on without a gap: topics of several streams, one of which had no message', async () => {
    const { publish, open } = await furnished();
    await publish('chat/a', 'before');
    await publish('chat/silent', 'before');
    const query = 'topic=chat/%23&topic=prices/+';
    const { events } = await opened(open, query);
    await publish('chat/a', '1');
    const { id = '' } = await events.event();
    events.close();
    await publish('chat/a', '2');
    await publish('chat/silent', 'not silent');
    await publish('chat/ne w', 'new');
    await publish('prices/x', '9');
    const again = await open(query, { 'last-event-id': id });
    const missed = [];
    while (missed.length < 4) missed.push((await again.message()).payload);
    expect(missed.sort()).toEqual(['2', '9', 'new', 'not silent']);
    await publish('chat/silent', 'live');
    const live = await again.event();
    expect(live.data.payload).toBe('live');
    // Each topic has a place in the id.
    for (const topic of ['chat/a', 'chat/silent', 'chat/ne%20w', 'prices/x'])
      expect(live.id?.split(' ')).toContain(topic);
  });

  test('tells of a gap where messages are not kept any more, before the last of them', async () => {
    const { publish, open } = await furnished();
    const { events } = await opened(open, 'topic=chat/a');
    await publish('chat/a', '1');
    const { id = '' } = await events.event();
    events.close();
    for (const payload of ['2', '3', '4', '5']) await publish('chat/a', payload);
    const again = await open('topic=chat/a', { 'last-event-id': id });
    expect(await again.event()).toMatchObject({ type: 'gap', data: { topic: 'chat/a' } });
    expect(await again.message()).toMatchObject({ payload: '5' });
    await publish('chat/a', '6');
    expect((await again.message()).payload).toBe('6');
  });

  test('is not set back by a retained message that is older', async () => {
    const { publish, open } = await furnished();
    await publish('chat/a', 'retained', { retain: true });
    await publish('chat/a', 'newer');
    const { events, first } = await opened(open, 'topic=chat/a');
    const { id = first.id, data } = await events.event();
    expect(data).toMatchObject({ payload: 'retained', retain: true });
    const again = await open('topic=chat/a', { 'last-event-id': id ?? '' });
    await publish('chat/a', 'newest');
    expect((await again.message()).payload).toBe('newest');
  });

  test('tells of a gap where a filter has more topics than a SUBSCRIBE may go on with', async () => {
    const { publish, open } = await furnished();
    const { events } = await opened(open, 'topic=chat/%23');
    for (let index = 0; index <= 1_000; index += 1) await publish(`chat/${index}`, 'x');
    const { id = '' } = await events.event();
    const again = await open('topic=chat/%23', { 'last-event-id': id });
    expect((await again.event()).type).toBe('gap');
    await publish('chat/0', 'live');
    expect((await again.message()).payload).toBe('live');
  });

  test.each([
    ['a filter that no stream keeps', 'topic=news', '0'],
    ['an id of another broker', 'topic=chat/a', 'other-1'],
    ['an id that is none', 'topic=chat/a', 'x'],
    ['more positions than a SUBSCRIBE may have', 'topic=chat/%23', '-'],
  ])('tells of a gap for %s', async (_, query, id) => {
    const { open } = await furnished();
    const events = await open(query, { 'last-event-id': id });
    expect((await events.event()).type).toBe('gap');
  });

  test('a stream by its name begins with its last values', async () => {
    const { publish, open } = await furnished();
    await publish('prices/x', '1');
    await publish('prices/x', '2');
    const events = await open('topic=$stream/prices');
    expect(await events.message()).toMatchObject({
      payload: '2',
      properties: { user_properties: { 'stream-kind': 'snapshot' } },
    });
  });
});

describe('a stream is refused', () => {
  test.each([
    ['', 400, 'BAD_REQUEST', 'Name a topic filter'],
    ['topic=a/%23/b', 400, 'BAD_REQUEST', 'a/#/b'],
    [`${'topic=a&'.repeat(21)}`, 400, 'TOO_MANY', '20 topic filters'],
  ])('with a sentence for ?%s', async (query, status, code, part) => {
    const { open } = await furnished();
    const refused = await open(query);
    expect(refused.status).toBe(status);
    expect(await refused.body()).toEqual({ code, message: expect.stringContaining(part) });
  });

  test('where the broker refuses a filter, which ends the client as well', async () => {
    const { node, publish, open } = await furnished({ subscriptionsPerSessionMax: 1 });
    await publish('a', 'is held back until the second filter is granted', { retain: true });
    const refused = await open('topic=a&topic=b');
    expect(refused.status).toBe(429);
    expect(refused.header('retry-after')).toBe('5');
    expect(await refused.body()).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    await expect
      .poll(async () => (await call(node.httpUrl, '/clients')).body)
      .toMatchObject({
        data: [{ clientid: 'publisher' }],
      });
  });

  test('by its last event, where so much came before that the answer has begun', async () => {
    const { publish, open } = await furnished({ subscriptionsPerSessionMax: 1 });
    const large = 'x'.repeat(100_000);
    for (let index = 0; index < 4; index += 1) await publish(`news/${index}`, large, { retain: true });
    const events = await open('topic=news/+&topic=b');
    expect(events.status).toBe(200);
    const received = await events.rest();
    expect(received.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'message', 'end']);
    expect(received.at(-1)?.data).toMatchObject({ reason_code: 0x97 });
  });

  test('to a page that may not connect; and one that may can read it', async () => {
    const { open } = await furnished({ allowedOrigins: ['https://app.example'] });
    const other = await open('topic=a', { origin: 'https://evil.example' });
    expect(other.status).toBe(403);
    expect(other.header('access-control-allow-origin')).toBeUndefined();
    const own = await open('topic=a', { origin: 'https://app.example' });
    expect(own.status).toBe(200);
    expect(own.header('access-control-allow-origin')).toBe('https://app.example');
  });

  test('to a page that may connect at another address of the node alone', async () => {
    const listen = [parseListenAddress('ws://127.0.0.1:0?origin=https://other.example')];
    const { node, publish } = await furnished({ allowedOrigins: ['https://app.example'], listen });
    const at = async (url: string, origin: string) => await EventClient.open(url, 'topic=a', { origin });
    const other = node.urls[1]?.replace('ws:', 'http:') ?? '';
    expect((await at(node.httpUrl, 'https://other.example')).status).toBe(403);
    expect((await at(other, 'https://app.example')).status).toBe(403);
    const events = await at(other, 'https://other.example');
    await events.next();
    await publish('a', 'x');
    expect(await events.message()).toMatchObject({ payload: 'x' });
  });

  test('with what a browser adds by itself, to a page of any site [SEC-ORIGIN-1]', async () => {
    const { open } = await furnished({ allowedOrigins: 'any' });
    const events = await open('topic=a', { origin: 'https://evil.example' });
    expect(events.status).toBe(200);
    expect(events.header('access-control-allow-origin')).toBe('*');
    expect(events.header('access-control-allow-credentials')).toBeUndefined();
  });

  test('by a proxy of this machine, where no credential is needed [SEC-LOCAL-1]', async () => {
    const { open } = await furnished();
    expect((await open('topic=a', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(403);
  });
});

describe('a stream ends with an event that says why', () => {
  test('when its client is disconnected', async () => {
    const { node, open } = await furnished();
    const { events } = await opened(open, 'topic=a');
    const { body } = await call(node.httpUrl, '/clients');
    const { data } = body as { data: readonly { clientid: string }[] };
    const { clientid = '' } = data.find(({ clientid }) => clientid !== 'publisher') ?? {};
    await call(node.httpUrl, `/clients/${clientid}`, 'DELETE');
    expect(await events.rest()).toEqual([
      { type: 'end', data: { reason_code: 0x98, message: expect.any(String) } },
    ]);
    await expect.poll(async () => (await call(node.httpUrl, `/clients/${clientid}`)).status).toBe(404);
  });

  test('when its address is banned, which is then refused', async () => {
    const { node, open } = await furnished();
    const { events } = await opened(open, 'topic=a');
    await call(node.httpUrl, '/banned', 'POST', {}, { as: 'peerhost', who: '127.0.0.1' });
    expect((await events.rest()).at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x98 } });
    expect((await open('topic=a')).status).toBe(403);
  });

  test('when the broker stops, which waits for no stream', async () => {
    const { node, open } = await furnished();
    const { events } = await opened(open, 'topic=a');
    await node.stop();
    expect(await events.rest()).toEqual([
      { type: 'end', data: { reason_code: 0x8b, message: expect.any(String) } },
    ]);
  });

  test('when its token has expired', async () => {
    const clock = new FakeScheduler();
    const authenticator = {
      authenticate: () => ({ ...ADA, expiresAtMs: clock.now() + 60_000 }),
    };
    const { open } = await furnished({ clock, authenticator });
    const { events } = await opened(open, 'topic=a');
    clock.advance(61_000);
    expect((await events.rest()).at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x87 } });
  });
});

describe('while nothing happens', () => {
  test('a comment keeps the connection alive', async () => {
    const clock = new FakeScheduler();
    const { open } = await furnished({ clock });
    const { events } = await opened(open, 'topic=a');
    for (let beat = 0; beat < 3; beat += 1) {
      clock.advance(HEARTBEAT_SECONDS * 1_000);
      expect(await events.next()).toEqual({ type: 'comment' });
    }
  });

  test('a stream lives where the broker asks for a Keep Alive', async () => {
    const clock = new FakeScheduler();
    const { publish, open } = await furnished({ clock, serverKeepAliveSecondsMax: 4 });
    const { events } = await opened(open, 'topic=a');
    for (let beat = 0; beat < 5; beat += 1) {
      clock.advance(4_000);
      expect(await events.next()).toEqual({ type: 'comment' });
      await publish('other', '');
    }
    await publish('a', 'live');
    expect((await events.message()).payload).toBe('live');
  });

  test('a client that goes is gone for the broker', async () => {
    const { node, open } = await furnished();
    const { events } = await opened(open, 'topic=a');
    events.close();
    await expect
      .poll(async () => (await call(node.httpUrl, '/clients')).body)
      .toMatchObject({
        data: [{ clientid: 'publisher' }],
      });
  });
});

describe('places', () => {
  test('an identity has as many streams as connections', async () => {
    const authenticator = { authenticate: () => ADA };
    const quotas = { identity: { connectionsMax: 3 } };
    const { open } = await furnished({ authenticator, quotas });
    const { events } = await opened(open, 'topic=a');
    await opened(open, 'topic=a');
    const refused = await open('topic=a');
    expect(refused.status).toBe(429);
    expect(await refused.body()).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    events.close();
    await expect.poll(async () => (await open('topic=a')).status).toBe(200);
  });

  test('an address has as many streams as handshakes that wait to be authenticated', async () => {
    const authenticator = { authenticate: () => new Promise<never>(() => {}) };
    const node = await nodeForTest({ authenticator, pendingPerAddressMax: 6 });
    const connections = async () => (await fetch(new URL('/healthz', node.httpUrl))).json();
    const first = EventClient.open(node.httpUrl, 'topic=a');
    await expect.poll(connections).toMatchObject({ connections: 1 });
    for (let count = 0; count < 10; count += 1) {
      void EventClient.open(node.httpUrl, 'topic=a').catch(() => {});
      await connections();
    }
    expect((await first).status).toBe(429);
  });

  test('a stream is one of the connections of the door, and its request none of the pending ones', async () => {
    const { node, open } = await furnished({ connectionsMax: 3, pendingPerAddressMax: 2 });
    const { events } = await opened(open, 'topic=a');
    const { events: other } = await opened(open, 'topic=b');
    expect((await open('topic=c')).status).toBe(503);
    // As many requests as an address may have pending cut neither of the streams.
    for (let count = 0; count < 5; count += 1) await call(node.httpUrl, '/stats');
    events.close();
    await expect.poll(async () => (await open('topic=c')).status).toBe(200);
    other.close();
  });
});
