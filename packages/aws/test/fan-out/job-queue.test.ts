import { describe, expect, it } from 'vitest';
import {
  payloads,
  publish,
  type Received,
  type Reply,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { PACKED_BYTES_MAX } from '../../src/index.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const SESSION = { clientId: 'away', properties: { sessionExpiryInterval: 3600 } };
const PAGES_MAX = 200;

/** Texts of so many bytes that name their number. */
function texts(count: number, bytes: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index}`.padEnd(bytes, '.'));
}

/** Fetches until a reply says `:`, and returns all replies. */
async function fetchAll(client: TextClient, first: Reply): Promise<Reply[]> {
  const replies = [first];
  while (replies.at(-1)?.more === true && replies.length < PAGES_MAX) replies.push(await client.fetch());
  return replies;
}

function messagesOf(replies: readonly Reply[]): Received[] {
  return replies.flatMap(({ packets }) => packets.filter(({ cmd }) => cmd === 'publish'));
}

/** A session that is offline, with these messages waiting. */
async function leaveWaiting({ url }: Gateway, waiting: readonly string[], qos = 1): Promise<TextClient> {
  const { client } = await TextClient.connect(url, SESSION);
  await client.exchange(subscribe('t', { qos: 2 }));
  await client.exchange({ cmd: 'disconnect' });
  client.close();
  await client.expectClose();
  const { client: publisher } = await TextClient.connect(url);
  const perFrame = waiting.some((text) => text.length > 400) ? 1 : 50;
  for (let index = 0; index < waiting.length; index += perFrame) {
    const packets = waiting
      .slice(index, index + perFrame)
      .map((text, number) => publish('t', text, { qos, messageId: number + 1 }));
    await publisher.exchange(...packets);
  }
  return publisher;
}

describe('the queue of a session that returns', () => {
  it('comes in pages, the first in the reply of CONNACK, until a reply says that no more is waiting', async () => {
    const gateway = await startGateway({ limits: { inflightMessagesMax: 1_000 } });
    const waiting = texts(600, 200);
    await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    expect(reply.packets[0]).toMatchObject({ cmd: 'connack', sessionPresent: true });
    expect(reply.more).toBe(true);
    const replies = await fetchAll(client, reply);
    expect(replies.length).toBeGreaterThan(4);
    expect(payloads(messagesOf(replies))).toEqual(waiting);
    for (const { bytes } of replies) expect(bytes.length).toBeLessThanOrEqual(PACKED_BYTES_MAX);
    expect(client.pushes.size).toBe(0);
  });

  it('stops at the window, and an acknowledgement brings more', async () => {
    const gateway = await startGateway();
    const waiting = texts(250, 20);
    await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    const received: string[] = [];
    let replies = await fetchAll(client, reply);
    while (messagesOf(replies).length > 0) {
      const messages = messagesOf(replies);
      received.push(...payloads(messages));
      expect(messages.length).toBeLessThanOrEqual(100);
      const acknowledgements = messages.map(({ messageId }) => ({ cmd: 'puback', messageId }));
      replies = await fetchAll(client, await client.exchange(...acknowledgements));
    }
    expect(received).toEqual(waiting);
  });

  it('keeps messages that are published meanwhile behind the waiting ones', async () => {
    const gateway = await startGateway({ limits: { inflightMessagesMax: 1_000 } });
    const waiting = texts(300, 200);
    const publisher = await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    expect(reply.more).toBe(true);
    await publisher.exchange(publish('t', 'meanwhile', { qos: 1 }));
    const replies = await fetchAll(client, reply);
    expect(payloads(messagesOf(replies))).toEqual([...waiting, 'meanwhile']);
    await publisher.exchange(publish('t', 'live', { qos: 1 }));
    expect(payloads((await client.pushes.next()).packets)).toEqual(['live']);
  });

  it('goes on with any frame, not with a fetch only', async () => {
    const gateway = await startGateway({ limits: { inflightMessagesMax: 1_000 } });
    const waiting = texts(300, 200);
    await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    const replies = [reply];
    while (replies.at(-1)?.more === true) replies.push(await client.exchange({ cmd: 'pingreq' }));
    expect(payloads(messagesOf(replies))).toEqual(waiting);
    for (const { packets } of replies.slice(1)) expect(packets[0]).toMatchObject({ cmd: 'pingresp' });
  });

  it('begins again with the unacknowledged messages, marked as DUP, when the connection was lost in between', async () => {
    const gateway = await startGateway({ limits: { inflightMessagesMax: 1_000 } });
    const waiting = texts(200, 200);
    await leaveWaiting(gateway, waiting);
    const first = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    const seen = messagesOf([first.reply]).length;
    expect(first.reply.more).toBe(true);
    await first.client.vanish();
    await gateway.emulator.quiet();
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    const messages = messagesOf(await fetchAll(client, reply));
    expect(payloads(messages)).toEqual(waiting);
    expect(messages.map(({ dup }) => dup)).toEqual(waiting.map((_, index) => index < seen));
  });

  it('has room for a message as large as a client may send, beside small ones', async () => {
    const gateway = await startGateway();
    const waiting = ['small', 'x'.repeat(24_000), 'small too', 'y'.repeat(24_000)];
    await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, { ...SESSION, clean: false });
    expect(payloads(messagesOf(await fetchAll(client, reply)))).toEqual(waiting);
    expect(client.pushes.size).toBe(0);
  });
});

describe('retained messages after SUBSCRIBE', () => {
  async function retain({ url }: Gateway, count: number, qos: number): Promise<string[]> {
    const { client } = await TextClient.connect(url);
    const topics = Array.from({ length: count }, (_, index) => `r/${String(index).padStart(4, '0')}`);
    for (let index = 0; index < count; index += 50) {
      const packets = topics
        .slice(index, index + 50)
        .map((topic) => publish(topic, 'x'.repeat(150), { retain: true, qos }));
      await client.exchange(...packets);
    }
    return topics;
  }

  it.each([0, 1])('come behind the SUBACK, in pages, each once, at QoS %i', async (qos) => {
    const gateway = await startGateway();
    const topics = await retain(gateway, 500, qos);
    const { client } = await TextClient.connect(gateway.url, SESSION);
    const reply = await client.exchange(subscribe('r/#', { qos }));
    expect(reply.packets[0]).toMatchObject({ cmd: 'suback' });
    // At QoS 1 the window of a hundred is full before the page is: the rest is fetched with acknowledgements.
    expect(reply.more).toBe(true);
    const received: string[] = [];
    for (let page = reply, pages = 0; pages < PAGES_MAX; pages += 1) {
      const messages = messagesOf([page]);
      received.push(...messages.map(({ topic }) => String(topic)));
      const kept = qos === 0 ? [] : messages;
      if (!page.more && kept.length === 0) break;
      page = await client.exchange(...kept.map(({ messageId }) => ({ cmd: 'puback', messageId })));
    }
    expect(received.sort()).toEqual(topics);
    expect(client.pushes.size).toBe(0);
  });

  it('come to a client that sends no PUBACK, as its session keeps no messages', async () => {
    const gateway = await startGateway();
    const topics = await retain(gateway, 250, 1);
    const { client } = await TextClient.connect(gateway.url);
    const replies = await fetchAll(client, await client.exchange(subscribe('r/#', { qos: 1 })));
    const received = messagesOf(replies);
    expect(received.map(({ topic }) => String(topic)).sort()).toEqual(topics);
    expect(received.every(({ qos, messageId }) => qos === 1 && Number(messageId) > 0)).toBe(true);
    expect(replies.at(-1)?.more).toBe(false);
  });

  it('are in the reply of the SUBSCRIBE that asked, and no push overtakes a newer one with an older', async () => {
    const gateway = await startGateway();
    await retain(gateway, 1, 1);
    const { client } = await TextClient.connect(gateway.url);
    const reply = await client.exchange(subscribe('r/#'), { cmd: 'pingreq' });
    expect(reply.packets.map(({ cmd }) => cmd)).toEqual(['suback', 'publish', 'pingresp']);
    expect(reply.packets[1]).toMatchObject({ retain: true });
  });
});
