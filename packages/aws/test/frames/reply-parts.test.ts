import type { ManagementCall } from '@apus/emulated-aws';
import { describe, expect, it } from 'vitest';
import {
  type Fields,
  payloads,
  type Received,
  type Reply,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { REPLY_BYTES_MAX, SERVER_FRAME_BYTES_MAX } from '../../src/index.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const SESSION = { clientId: 'c', properties: { sessionExpiryInterval: 3_600 } };
const BACK = { ...SESSION, clean: false };

/** Behind a page this one does not fit into a reply: 98,286 bytes, less the 24 KB of a page. */
const large = (name: string): string => name.padEnd(90_000, '.');
const small = (name: string): string => name.padEnd(10_000, '.');
const names = (packets: readonly Received[]): string[] =>
  payloads(packets).map((payload) => payload.replaceAll('.', ''));

/** A reply with its parts behind it, as a transport puts them together. */
async function whole(client: TextClient, reply: Reply): Promise<Received[]> {
  const packets = [...reply.packets];
  for (let part = 0; part < reply.parts; part += 1) packets.push(...(await client.parts.next()).packets);
  return packets;
}

/** Everything that is fetched, each reply with its parts. */
async function fetchAll(client: TextClient, first: Reply): Promise<Received[][]> {
  const replies = [await whole(client, first)];
  for (let { more } = first; more; ) {
    const reply = await client.fetch();
    replies.push(await whole(client, reply));
    more = reply.more;
  }
  return replies;
}

/** A session that is offline, for which these wait. */
async function leaveWaiting(gateway: Gateway, waiting: readonly string[], qos: 1 | 2 = 1): Promise<void> {
  const { client } = await TextClient.connect(gateway.url, SESSION);
  await client.exchange(subscribe('t', { qos: 2 }));
  await client.exchange({ cmd: 'disconnect' });
  client.close();
  await client.expectClose();
  await gateway.disconnected();
  for (const payload of waiting) await gateway.publish('t', payload, qos);
}

/** A client that is connected and whose window holds two messages; what else is published waits. */
async function withFullWindow(gateway: Gateway, waiting: readonly string[], qos: 1 | 2 = 1) {
  const properties = { ...SESSION.properties, receiveMaximum: 2 };
  const { client } = await TextClient.connect(gateway.url, { ...SESSION, properties });
  await client.exchange(subscribe('t', { qos }));
  await gateway.publish('t', 'first', qos);
  await gateway.publish('t', 'second', qos);
  const pushes = [await client.pushes.next(), await client.pushes.next()];
  const messageIds = pushes.map(({ packets }) => Number(packets[0]?.messageId));
  for (const payload of waiting) await gateway.publish('t', payload, qos);
  return { client, messageIds };
}

const answers = (cmd: string, messageIds: readonly number[]): Fields[] =>
  messageIds.map((messageId) => ({ cmd, messageId }));

/** Strikes the posts of parts, so many times. */
function partFaults(
  fault: 'postFails' | 'postFailsAfterwards' | 'postThrottled' | 'postGone',
  times = Infinity,
) {
  let struck = 0;
  const strikes = ({ body = '' }: ManagementCall) => body.startsWith('&') && struck++ < times;
  return { emulator: { faults: { [fault]: strikes } } };
}

describe('a large message behind a page of the queue', () => {
  it('is a part of the reply that a client is given when it returns, and the next page comes behind it', async () => {
    const gateway = await startGateway();
    const waiting = [small('1'), small('2'), large('3'), small('4'), large('5'), small('6')];
    await leaveWaiting(gateway, waiting);
    const { client, reply } = await TextClient.connect(gateway.url, BACK);
    expect(reply).toMatchObject({ parts: 1, more: true });
    expect(reply.packets[0]).toMatchObject({ cmd: 'connack' });
    const replies = await fetchAll(client, reply);
    expect(replies.map(names)).toEqual([['1', '2', '3'], ['4', '5'], ['6']]);
    expect(client.pushes.size).toBe(0);
  });

  it('is a part of the reply to the PUBACKs that make room for it', async () => {
    const gateway = await startGateway();
    const { client, messageIds } = await withFullWindow(gateway, [small('third'), large('fourth')]);
    const reply = await client.exchange(...answers('puback', messageIds));
    expect(reply.parts).toBe(1);
    expect(names(await whole(client, reply))).toEqual(['third', 'fourth']);
    expect(client.pushes.size).toBe(0);
  });

  it('is a push behind another where the PUBACKs want no reply', async () => {
    const gateway = await startGateway();
    const { client, messageIds } = await withFullWindow(gateway, [small('third'), large('fourth')]);
    client.send(answers('puback', messageIds), ',');
    const pushes = [await client.pushes.next(), await client.pushes.next()];
    expect(pushes.map(({ packets }) => names(packets))).toEqual([['third'], ['fourth']]);
    await client.expectNoPush();
    expect(client.parts.size).toBe(0);
  });

  it('needs no part where it comes alone, and neither does a message that fits into the reply', async () => {
    const gateway = await startGateway();
    await leaveWaiting(gateway, [large('1'), small('2'), 'x'.repeat(70_000)]);
    const { client, reply } = await TextClient.connect(gateway.url, BACK);
    const replies = await fetchAll(client, reply);
    expect(replies.flatMap((packets) => payloads(packets))).toHaveLength(3);
    expect(client.arrivals).not.toContain('part');
  });

  it('is a part of an empty reply where it is as large as a frame can be', async () => {
    const gateway = await startGateway();
    // Fixed header 4, topic 3, packet id 2, properties 1.
    const largest = 'x'.repeat(SERVER_FRAME_BYTES_MAX - 10);
    await leaveWaiting(gateway, [largest]);
    const { client, reply } = await TextClient.connect(gateway.url, BACK);
    expect(reply).toMatchObject({ parts: 1, packets: [{ cmd: 'connack' }] });
    const part = await client.parts.next();
    expect(part.bytes.length).toBeGreaterThan(REPLY_BYTES_MAX);
    expect(payloads(part.packets)).toEqual([largest]);
  });
});

describe('a part of a reply that does not arrive for certain', () => {
  it.each([
    { fault: 'postFails', answer: '500' },
    { fault: 'postFailsAfterwards', answer: '500, and was sent all the same' },
    { fault: 'postGone', answer: '410' },
    { fault: 'postThrottled', answer: '429, again and again' },
  ] as const)(
    'ends the connection without a reply, and comes on the next one: $answer',
    async ({ fault }) => {
      const gateway = await startGateway(partFaults(fault));
      const { client, messageIds } = await withFullWindow(gateway, [small('third'), large('fourth')]);
      client.send(answers('puback', messageIds));
      expect(await client.expectClose()).toBe(1000);
      await gateway.emulator.quiet();
      expect(client.arrivals.filter((kind) => kind === 'part')).toHaveLength(
        fault === 'postFailsAfterwards' ? 1 : 0,
      );
      expect(gateway.stores.sessions.get('default', 'c')?.attachment).toBeUndefined();
      const back = await TextClient.connect(gateway.url, { ...BACK, properties: { receiveMaximum: 1 } });
      expect(back.reply.packets).toMatchObject([{ cmd: 'connack' }, { cmd: 'publish', dup: true }]);
      expect(names(back.reply.packets)).toEqual(['third']);
    },
  );

  it('is posted again after a 429, and counted once', async () => {
    const gateway = await startGateway(partFaults('postThrottled', 2));
    const { client, messageIds } = await withFullWindow(gateway, [small('third'), large('fourth')]);
    const reply = await client.exchange(...answers('puback', messageIds));
    expect(names(await whole(client, reply))).toEqual(['third', 'fourth']);
  });

  it('is left out where it is QoS 0 and was refused: the reply does not wait for it', async () => {
    const gateway = await startGateway(partFaults('postThrottled'));
    for (const topic of ['r/1', 'r/2']) await gateway.publish(topic, large(topic), 0, true);
    const { client } = await TextClient.connect(gateway.url);
    const reply = await client.exchange(subscribe('r/+'));
    expect(reply.packets[0]).toMatchObject({ cmd: 'suback' });
    const replies = await fetchAll(client, reply);
    expect(replies.flat().filter(({ cmd }) => cmd === 'publish').length).toBeGreaterThan(0);
    expect(client.parts.size).toBe(0);
  });
});

describe('a QoS 2 message that a PUBCOMP without a reply dequeues', () => {
  /** Strikes posts once the window is full. */
  async function dequeuedWith(
    fault: 'postFails' | 'postFailsAfterwards' | 'postThrottled',
    times = Infinity,
  ) {
    let isArmed = false;
    let struck = 0;
    const strikes = () => isArmed && struck++ < times;
    const gateway = await startGateway({ emulator: { faults: { [fault]: strikes } } });
    const { client, messageIds } = await withFullWindow(gateway, ['third'], 2);
    const pubrels = await client.exchange(...answers('pubrec', messageIds));
    expect(pubrels.packets.map(({ cmd }) => cmd)).toEqual(['pubrel', 'pubrel']);
    isArmed = true;
    client.send(answers('pubcomp', messageIds), ',');
    return { gateway, client };
  }

  it('is sent once on the connection where its arrival is unknown, and with DUP on the next one', async () => {
    const { gateway, client } = await dequeuedWith('postFailsAfterwards', 1);
    const { packets } = await client.pushes.next();
    expect(names(packets)).toEqual(['third']);
    // A second one could not be told from another message, once the client has done with this one [MQTT-4.4.0-1].
    expect(await client.expectClose()).toBe(1000);
    expect(client.pushes.size).toBe(0);
    await gateway.emulator.quiet();
    const { reply } = await TextClient.connect(gateway.url, BACK);
    const [, again] = reply.packets;
    expect(again).toMatchObject({ cmd: 'publish', dup: true, messageId: packets[0]?.messageId });
  });

  it('is not skipped where it cannot be sent: the connection ends, and the next one brings it', async () => {
    const { gateway, client } = await dequeuedWith('postFails');
    expect(await client.expectClose()).toBe(1000);
    await gateway.emulator.quiet();
    const { reply } = await TextClient.connect(gateway.url, BACK);
    expect(names(reply.packets)).toEqual(['third']);
  });

  it('is posted again where the gateway refused it: it has not arrived', async () => {
    const { client } = await dequeuedWith('postThrottled', 2);
    expect(names((await client.pushes.next()).packets)).toEqual(['third']);
    await client.expectNoPush();
  });
});
