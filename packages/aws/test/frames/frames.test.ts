import { describe, expect, it } from 'vitest';
import { METHOD } from '../../../../test/behaviour/raw/challenge.ts';
import {
  connect,
  type Fields,
  payloads,
  publish,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { ALIVE_FRAME, type Handlers } from '../../src/index.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const pingreq: Fields = { cmd: 'pingreq' };

/** A client that has subscribed to the filter. */
async function subscriber(url: string, filter: string, options: Fields = {}): Promise<TextClient> {
  const { client } = await TextClient.connect(url);
  await client.exchange(subscribe(filter, options));
  return client;
}

/** A clock of this time, before its first message. */
function clockAt(ms: number): string {
  return `${ms.toString(36).padStart(9, '0')}0000`;
}

/** DISCONNECT 0x81 as a push, then the close, and no reply. */
async function expectMalformed(client: TextClient): Promise<void> {
  const { packets } = await client.pushes.next();
  // The answers to what could be read come first.
  expect(packets.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x81 });
  expect(await client.expectClose()).toBe(1000);
  expect(client.replies.size).toBe(0);
}

/** The reply to CONNECT, as it is on the wire. */
async function connackTo(url: string, offer: string): Promise<{ client: TextClient; text: string }> {
  const client = await TextClient.open(url, 5, offer);
  const { bytes, more, clock, extensions } = await client.exchange(connect({ clientId: 'c' }));
  const agreed = extensions === undefined ? '' : `(${extensions})`;
  expect({ more, clock }).toEqual({ more: false, clock: undefined });
  return { client, text: `${agreed}:${bytes.toString('base64')}` };
}

describe('an offer of extensions', () => {
  const takingNudges = (stores: Gateway['stores']) =>
    [...stores.sessions.all()].flatMap(({ session, attachment }) =>
      attachment?.takesNudges === true ? [session.clientId] : [],
    );

  it('with CONNECT is answered, with what the server takes, in the reply that carries CONNACK', async () => {
    const { url } = await startGateway();
    const { text: before } = await connackTo(url, '');
    expect(before).toMatch(/^:[A-Za-z0-9+/=]+$/);
    expect((await connackTo(url, '(nudge)')).text).toBe(`(nudge)${before}`);
    expect((await connackTo(url, '(teleport,nudge)')).text).toBe(`(nudge)${before}`);
    expect((await connackTo(url, '(teleport)')).text).toBe(`()${before}`);
    expect((await connackTo(url, '()')).text).toBe(`()${before}`);
  });

  it('is stored with the connection and its session; connections without an offer store none', async () => {
    const { url, stores } = await startGateway();
    await connackTo(url, '(nudge)');
    await TextClient.connect(url, { clientId: 'other' });
    expect(takingNudges(stores)).toEqual(['c']);
  });

  it('is remembered while AUTH goes to and fro before CONNACK', async () => {
    const { url, stores } = await startGateway();
    const client = await TextClient.open(url, 5, '(nudge)');
    const properties = { authenticationMethod: METHOD, authenticationData: Buffer.from('ada') };
    expect(await client.exchange(connect({ clientId: 'c', properties }))).toMatchObject({
      packets: [{ cmd: 'auth' }],
      extensions: ['nudge'],
    });
    const answer = { authenticationMethod: METHOD, authenticationData: Buffer.from('right') };
    const reply = await client.exchange({ cmd: 'auth', reasonCode: 0x18, properties: answer });
    expect(reply).toMatchObject({ packets: [{ cmd: 'connack', reasonCode: 0 }], extensions: undefined });
    expect(takingNudges(stores)).toEqual(['c']);
  });

  it('is answered once: later replies do not repeat the answer', async () => {
    const { url } = await startGateway();
    const { client } = await connackTo(url, '(nudge)');
    expect((await client.exchange(pingreq)).extensions).toBeUndefined();
  });

  it.each([
    { offer: '', fetches: true },
    { offer: '(nudge)', fetches: false },
  ])(
    'as "$offer" lets PINGREQ of a session that keeps nothing fetch what waits: $fetches',
    async ({ offer, fetches }) => {
      const calls: string[] = [];
      const onStoreCall = (name: string): undefined => void calls.push(name);
      const { url } = await startGateway({ onStoreCall });
      const { client } = await connackTo(url, offer);
      calls.length = 0;
      expect((await client.exchange(pingreq)).packets).toMatchObject([{ cmd: 'pingresp' }]);
      expect(calls.includes('next')).toBe(fetches);
    },
  );

  it('in a later frame is a Malformed Packet', async () => {
    const { url } = await startGateway();
    const { client } = await connackTo(url, '(nudge)');
    client.sendText(`(nudge)${client.encode(pingreq).toString('base64')}`);
    await expectMalformed(client);
  });
});

describe('a sign of life (16)', () => {
  it('invokes no function where the API has its route, and no answer comes', async () => {
    const invoked: string[] = [];
    const wrap = (handlers: Handlers): Handlers => ({
      ...handlers,
      default: (event, context) => {
        invoked.push(event.body ?? '');
        return handlers.default(event, context);
      },
    });
    const { url, emulator } = await startGateway({ wrap });
    const { client } = await connackTo(url, '(alive)');
    invoked.length = 0;
    client.sendText(ALIVE_FRAME);
    expect((await client.exchange(pingreq)).packets).toMatchObject([{ cmd: 'pingresp' }]);
    expect(invoked).toEqual([client.encode(pingreq).toString('base64')]);
    const { messages } = emulator.counters.snapshot();
    expect([messages.in.count, messages.replies.count]).toEqual([3, 2]);
  });

  it('does nothing and has no answer where an older API brings it to the function', async () => {
    const { url, emulator } = await startGateway({
      emulator: { routes: { $default: { routeResponse: true } } },
    });
    const { client } = await connackTo(url, '(alive)');
    client.sendText(ALIVE_FRAME);
    expect((await client.exchange(pingreq)).packets).toMatchObject([{ cmd: 'pingresp' }]);
    expect(emulator.counters.snapshot().messages.replies.count).toBe(2);
  });

  it('with anything else in it is a Malformed Packet', async () => {
    const { url } = await startGateway();
    const { client } = await connackTo(url, '(alive)');
    client.sendText('{"action":"alive?"}');
    await expectMalformed(client);
  });
});

describe('a frame', () => {
  it('of packets is answered by one reply that holds all their answers, in order', async () => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url);
    const reply = await client.exchange(
      publish('a', 'x', { qos: 1, messageId: 7 }),
      pingreq,
      subscribe('b'),
      publish('a', 'x', { qos: 2, messageId: 8 }),
    );
    expect(reply.packets.map(({ cmd }) => cmd)).toEqual(['puback', 'pingresp', 'suback', 'pubrec']);
    expect(reply.more).toBe(false);
  });

  it.each(['', '.'])('with the marker "%s" wants its reply', async (marker) => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url);
    client.sendText(`${marker}${client.encode(pingreq).toString('base64')}`);
    expect((await client.replies.next()).packets).toMatchObject([{ cmd: 'pingresp' }]);
  });

  it.each(['', '.'])(
    'with nothing in it, "%s", is a fetch: an empty reply when nothing waits',
    async (text) => {
      const { url } = await startGateway();
      const { client } = await TextClient.connect(url);
      client.sendText(text);
      expect(await client.replies.next()).toMatchObject({ packets: [], more: false });
    },
  );

  it('of many packets is handled in their order', async () => {
    const { url } = await startGateway();
    const watcher = await subscriber(url, 'order');
    const { client } = await TextClient.connect(url);
    const texts = Array.from({ length: 40 }, (_, index) => String(index));
    await client.exchange(
      ...texts.map((text, index) => publish('order', text, { qos: index % 3, messageId: index + 1 })),
    );
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(texts);
  });

  it('with the marker "," has no reply', async () => {
    const { url } = await startGateway();
    const watcher = await subscriber(url, 'quiet');
    const { client } = await TextClient.connect(url);
    client.send([publish('quiet', 'x')], ',');
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['x']);
    await client.expectNoPush();
    expect(client.replies.size).toBe(0);
  });

  it('with the marker "," is answered by a push where something results from it', async () => {
    const { url } = await startGateway();
    const client = await subscriber(url, 'own');
    client.send([publish('own', 'x')], ',');
    expect(payloads((await client.pushes.next()).packets)).toEqual(['x']);
    client.send([publish('own', 'y', { qos: 1, messageId: 5 })], ',');
    expect((await client.pushes.next()).packets).toMatchObject([
      { cmd: 'publish' },
      { cmd: 'puback', messageId: 5 },
    ]);
  });

  it('of acknowledgements alone, marked ",", brings the messages that the window held back as a push', async () => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url, { properties: { receiveMaximum: 1 } });
    await client.exchange(subscribe('w', { qos: 1 }));
    const { client: publisher } = await TextClient.connect(url);
    await publisher.exchange(...['a', 'b'].map((text) => publish('w', text, { qos: 1 })));
    const [first] = (await client.pushes.next()).packets;
    expect(String(first?.payload)).toBe('a');
    await client.expectNoPush();
    client.send([{ cmd: 'puback', messageId: first?.messageId }], ',');
    expect(payloads((await client.pushes.next()).packets)).toEqual(['b']);
  });

  it('returns the clock only where the server knows a later one, and a message comes later than the clock it brought', async () => {
    const { url, time } = await startGateway();
    const { client } = await TextClient.connect(url);
    const seen = clockAt(time.nowMs + 2_900);
    const base64 = client.encode(publish('t', 'x', { qos: 1 })).toString('base64');
    client.sendText(`@${seen}.${base64}`);
    const { clock = '' } = await client.replies.next();
    expect(clock > seen).toBe(true);
    client.sendText(`@${clock}.${client.encode(pingreq).toString('base64')}`);
    expect((await client.replies.next()).clock).toBeUndefined();
  });
});

describe('a clock that is ahead of every server', () => {
  it("counts for its own client's messages alone [SEC-CLOCK-1]", async () => {
    const { url, time } = await startGateway();
    const [{ client: mallory }, { client: ann }] = [
      await TextClient.connect(url),
      await TextClient.connect(url),
    ];
    const ahead = clockAt(time.nowMs + 2_900);
    const message = mallory.encode(publish('t', 'x', { qos: 1 })).toString('base64');
    mallory.sendText(`@${ahead}.${message}`);
    expect((await mallory.replies.next()).clock ?? '').not.toBe('');
    const { clock = '' } = await ann.exchange(publish('u', 'x', { qos: 1 }));
    expect(clock.startsWith(clockAt(time.nowMs).slice(0, 9))).toBe(true);
  });

  it('is not adopted: every later message would carry it', async () => {
    const { url, time } = await startGateway();
    const { client } = await TextClient.connect(url);
    for (const made of ['z'.repeat(13), clockAt(time.nowMs + 3_100)]) {
      client.sendText(`@${made}.${client.encode(publish('t', 'x', { qos: 1 })).toString('base64')}`);
      expect((await client.replies.next()).packets).toMatchObject([{ cmd: 'puback' }]);
    }
    const { clock = '' } = await client.exchange(publish('t', 'x', { qos: 1 }));
    expect(clock.startsWith(clockAt(time.nowMs).slice(0, 9))).toBe(true);
  });
});

describe('a handler that nears its deadline', () => {
  /** Says that there is time for so many packets, again and again. */
  function timeFor(packets: number): () => number {
    let asked = 0;
    return () => (asked++ % (packets + 1) < packets ? 5_000 : 1_499);
  }

  it('stops between packets, says how many it took, and the client sends the rest', async () => {
    let remaining = () => 5_000;
    const { url } = await startGateway({ remainingMs: () => remaining() });
    const watcher = await subscriber(url, 'late');
    const { client } = await TextClient.connect(url);
    remaining = timeFor(2);
    const packets = ['1', '2', '3', '4', '5'].map((text, index) =>
      publish('late', text, { qos: 1, messageId: index + 1 }),
    );
    const reply = await client.exchange(...packets);
    expect(reply).toMatchObject({ taken: 2, more: false });
    expect(reply.packets.map(({ messageId }) => messageId)).toEqual([1, 2]);
    remaining = () => 5_000;
    const rest = await client.exchange(...packets.slice(2));
    expect(rest.taken).toBeUndefined();
    expect(rest.packets.map(({ messageId }) => messageId)).toEqual([3, 4, 5]);
    const pushes = [await watcher.pushes.next(), await watcher.pushes.next()];
    expect(pushes.flatMap((push) => payloads(push.packets))).toEqual(['1', '2', '3', '4', '5']);
  });

  it('that has no time left handles no packet: !0', async () => {
    let remaining = () => 5_000;
    const { url } = await startGateway({ remainingMs: () => remaining() });
    const { client } = await TextClient.connect(url);
    remaining = () => 0;
    expect(await client.exchange(pingreq)).toMatchObject({ taken: 0, packets: [] });
  });

  it('takes every packet of a frame that wants no reply: its client would not send the rest again', async () => {
    let remaining = () => 5_000;
    const { url } = await startGateway({ remainingMs: () => remaining() });
    const watcher = await subscriber(url, 'all');
    const { client } = await TextClient.connect(url);
    remaining = timeFor(1);
    client.send(
      ['1', '2', '3'].map((text) => publish('all', text)),
      ',',
    );
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['1', '2', '3']);
  });
});

describe('a frame that cannot be read', () => {
  it.each([
    ['half a packet', () => 'wA=='],
    ['a packet and half of the next', () => Buffer.from('c000c0', 'hex').toString('base64')],
    ['base64 that is not canonical', () => 'wAB='],
    ['no base64', () => 'hello, world!'],
    ['an unknown marker', () => '*wAA='],
    ['a marker of the server', () => ':wAA='],
    ['JSON', () => '{"action":"sendMessage","data":"x"}'],
    ['a move without a ticket', () => '~'],
    ['no packet at all and no reply wanted', () => ','],
    ['bytes that are no packet', () => Buffer.from('f0', 'hex').toString('base64')],
  ])('is answered with DISCONNECT 0x81 and the close: %s', async (_, text) => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url);
    client.sendText(text());
    await expectMalformed(client);
  });

  it('closes a client of MQTT 3.1.1 without a packet', async () => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url, { protocolVersion: 4 });
    client.sendText('wA==');
    expect(await client.expectClose()).toBe(1000);
    expect([client.pushes.size, client.replies.size]).toEqual([0, 0]);
  });

  it('is handled up to the malformed packet: the will is sent and the connection ends', async () => {
    const { url } = await startGateway();
    const watcher = await subscriber(url, '#');
    const { client } = await TextClient.connect(url, {
      will: { topic: 'will', payload: 'gone', qos: 0, retain: false },
    });
    client.sendText(
      Buffer.concat([client.encode(publish('t', 'x')), Buffer.from('c0', 'hex')]).toString('base64'),
    );
    await expectMalformed(client);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['x', 'gone']);
  });

  it('ends a connection that has not sent CONNECT, without a packet', async () => {
    const { url } = await startGateway();
    for (const text of ['{"a":1}', 'wAA=', 'wA==']) {
      const client = await TextClient.open(url);
      client.sendText(text);
      expect(await client.expectClose()).toBe(1000);
      expect([client.pushes.size, client.replies.size]).toEqual([0, 0]);
    }
  });

  it('with a second CONNECT is answered with a Protocol Error, 0x82', async () => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url);
    client.send([connect()]);
    expect((await client.pushes.next()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x82 }]);
    expect(await client.expectClose()).toBe(1000);
  });
});
