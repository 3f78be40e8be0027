import { expect, test, vi } from 'vitest';
import { EventClient } from '../../../../test/support/event-client.ts';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { HEARTBEAT_SECONDS, STALLED_SECONDS_MAX } from '../../src/http-streams/event-stream.ts';
import type { NodeOptions } from '../../src/index.ts';
import { call } from '../support/call-api.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';
import { nodeForTest } from '../support/nodes.ts';

// Each of so many large messages is waited for.
vi.setConfig({ testTimeout: 120_000 });

const PAYLOAD = Buffer.alloc(64 * 1024, 'x');
/** More than the kernel takes for two sockets of one machine, beside the node's own buffer. */
const MESSAGES = 400;
const MESSAGES_TO_STALLED = 20;
const STREAMS = [{ name: 's', topicFilter: 's/#', bytesMax: 64 * 1024 * 1024 }];

/** A node with a client of events that has stopped to read, and has been sent more than it can be. */
async function stalled(topic: string, options: NodeOptions = {}) {
  const node = await nodeForTest({ streams: STREAMS, ...options });
  const events = await EventClient.open(node.httpUrl, `topic=${topic}`);
  await events.next();
  events.pause();
  const { client } = await RawClient.connect(node.url, { clientId: 'publisher' });
  const publish = async (payload: Uint8Array) => {
    client.send({ cmd: 'publish', topic, payload, qos: 1, messageId: 1, retain: false, dup: false });
    await client.expect('puback');
  };
  for (let left = MESSAGES; left > 0; left -= 1) await publish(PAYLOAD);
  return { node, events, publish };
}

const clientsOf = async ({ httpUrl }: { httpUrl: string }) =>
  ((await call(httpUrl, '/clients')).body as { data: readonly { clientid: string }[] }).data;

test('a client that reads too slowly is told that it missed messages, and no message behind them', async () => {
  const { node, events, publish } = await stalled('t');
  events.resume();
  await publish(Buffer.from('behind'));
  const received = await events.rest();
  expect(received.at(-1)).toEqual({
    type: 'end',
    data: { reason_code: 0x97, message: expect.stringContaining('not read fast enough') },
  });
  expect(received.length).toBeGreaterThan(1);
  expect(received.length).toBeLessThan(MESSAGES);
  expect(JSON.stringify(received)).not.toContain('behind');
  await expect.poll(async () => await clientsOf(node)).toHaveLength(1);
});

test('a client that reads nothing at all is ended with the next heartbeat behind a message that it missed', async () => {
  const clock = new FakeScheduler();
  const { node, events } = await stalled('t', { clock });
  expect(await clientsOf(node)).toHaveLength(2);
  clock.advance(HEARTBEAT_SECONDS * 1_000);
  events.resume();
  expect((await events.rest()).at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x97 } });
});

test('one that does not take the last event either is cut', async () => {
  const clock = new FakeScheduler();
  const { node } = await stalled('t', { clock, closeTimeoutSeconds: 3 });
  clock.advance(HEARTBEAT_SECONDS * 1_000);
  expect(await clientsOf(node)).toHaveLength(2);
  clock.advance(3_000);
  await expect.poll(async () => await clientsOf(node)).toHaveLength(1);
});

test('a reader of a stream that reads late is sent everything, in order and once', async () => {
  const { events, publish } = await stalled('s/a');
  events.resume();
  await publish(Buffer.from('last'));
  const numbers: string[] = [];
  for (;;) {
    const { data, id = '' } = await events.event();
    numbers.push(id.split('-')[1] ?? '');
    if (data.payload === 'last') break;
  }
  expect(numbers).toEqual(Array.from({ length: MESSAGES + 1 }, (_, index) => String(index + 1)));
});

test(`a reader of a stream that takes nothing for ${STALLED_SECONDS_MAX} s is ended, and goes on later`, async () => {
  const clock = new FakeScheduler();
  const { node, events } = await stalled('s/a', { clock });
  for (let seconds = 0; seconds < STALLED_SECONDS_MAX; seconds += HEARTBEAT_SECONDS) {
    expect(await clientsOf(node)).toHaveLength(2);
    clock.advance(HEARTBEAT_SECONDS * 1_000);
  }
  events.resume();
  const received = await events.rest();
  expect(received.at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x97 } });
  const { id = '' } = received.findLast((each) => each.id !== undefined) ?? {};
  const number = Number(id.split('-')[1]);
  expect(number).toBeLessThan(MESSAGES);
  const again = await EventClient.open(node.httpUrl, 'topic=s/a', { 'last-event-id': id });
  expect(await again.next()).toEqual({ type: 'message', id });
  expect((await again.event()).id).toBe(id.replace(/\d+$/, String(number + 1)));
});

test('[SEC-MEMORY-9] clients that read nothing are cut where they would hold more than a node may, and one that reads gets everything', async () => {
  const node = await nodeForTest({ outboundTotalBytesMax: 4 * 1024 * 1024 });
  const open = async () => {
    const events = await EventClient.open(node.httpUrl, 'topic=t');
    await events.next();
    return events;
  };
  const large = Buffer.alloc(1_500_000, 'x');
  const stalled = await Promise.all(Array.from({ length: 10 }, open));
  for (const each of stalled) each.pause();
  const reader = await open();
  const { client } = await RawClient.connect(node.url, { clientId: 'publisher' });
  for (let left = MESSAGES_TO_STALLED; left > 0; left -= 1) {
    client.send({ cmd: 'publish', topic: 't', payload: large, qos: 0 });
    await reader.message();
  }
  // The publisher, the reader, and those whose unread message has room.
  expect((await clientsOf(node)).length).toBeLessThanOrEqual(4);
  // The node keeps nothing of what the others have not read. How much a kernel took before that, and whether a last event
  // had room, depends on the machine.
  for (const each of stalled) each.resume();
  for (const each of stalled.slice(0, 4)) {
    const messages = (await each.rest()).filter(({ type }) => type === 'message');
    expect(messages.length).toBeLessThan(MESSAGES_TO_STALLED);
  }
});
