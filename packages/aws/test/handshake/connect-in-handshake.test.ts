import { readFileSync } from 'node:fs';
import { encodePacket } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { connect, publish, subscribe, TextClient } from '../../../../test/support/text-client.ts';
import { type ConnectEvent, type Handlers, offeredConnect } from '../../src/index.ts';
import { startGateway } from '../support/gateway.ts';

const SECRET = 'AAECAwQFBgcICQoLDA0ODw';
const ANSWERS = ['mqtt-text-v1.1-0', 'mqtt-text-v1.1-1'];
const FRAMES = ['mqtt-text-v1.1', 'mqtt-text-v1'];

interface Fields {
  readonly clientId?: string;
  readonly cleanStart?: boolean;
  readonly will?: object;
  readonly properties?: object;
  readonly protocolVersion?: 4 | 5;
}

function connectBytes(fields: Fields = {}): Buffer {
  const { protocolVersion = 5 } = fields;
  const packet = {
    type: 'connect',
    protocolVersion,
    cleanStart: true,
    keepAliveSeconds: 540,
    clientId: 'shaker',
    properties: {},
    ...fields,
  };
  return Buffer.from(encodePacket(packet as never, protocolVersion));
}

const connectProtocolOf = (bytes: Buffer, names = 'nudge+move+resume+close+alive') =>
  `mqtt-connect.${SECRET}.${names}.${bytes.toString('base64url')}`;

const offerOf = (bytes: Buffer, names?: string) => [connectProtocolOf(bytes, names), ...ANSWERS, ...FRAMES];

/** The subprotocol that the server selects. */
async function shake(
  url: string,
  protocols: readonly string[],
): Promise<{ chosen: string; socket: WebSocket }> {
  const socket = new WebSocket(url, [...protocols]);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { chosen: socket.protocol, socket };
}

async function chosen(url: string, protocols: readonly string[]): Promise<string> {
  const { chosen: protocol, socket } = await shake(url, protocols);
  socket.terminate();
  return protocol;
}

interface Vector {
  readonly name: string;
  readonly protocols: readonly string[];
  readonly hex: string;
  readonly extensions: readonly string[];
  readonly secret: string;
}
const file = new URL('../../../../docs/text-frames.vectors.json', import.meta.url);
const { handshakes } = JSON.parse(readFileSync(file, 'utf8')) as { readonly handshakes: readonly Vector[] };

describe('the vectors of docs/text-frames.vectors.json', () => {
  it.each(handshakes)('$name', ({ protocols, hex, extensions, secret }) => {
    const read = offeredConnect({ 'sec-websocket-protocol': protocols.join(', ') });
    expect(
      read && { ...read, bytes: read.bytes.toString('hex'), secret: read.secret.toString('hex') },
    ).toEqual({
      bytes: hex,
      extensions,
      secret,
    });
  });
});

describe('CONNECT in the handshake', () => {
  it.each([4, 5] as const)('is accepted, MQTT %i: no frame was sent for it', async (protocolVersion) => {
    const { url, stores, emulator } = await startGateway();
    expect(await chosen(url, offerOf(connectBytes({ protocolVersion })))).toBe(ANSWERS[0]);
    expect(stores.sessions.get('default', 'shaker')).toBeDefined();
    expect(emulator.counters.snapshot().messages.in.count).toBe(0);
  });

  it('tells with the first reply what was agreed on, and its ticket resumes the session', async () => {
    const gateway = await startGateway();
    const client = await TextClient.open(gateway.url, 5, '', offerOf(connectBytes()));
    client.sendText(`()${client.encode(subscribe('a', { qos: 1 })).toString('base64')}`);
    const reply = await client.replies.next();
    expect(reply.extensions).toEqual(['nudge', 'move', 'resume', 'close', 'alive']);
    const [connectionId, age, seconds] = reply.move?.split(',') ?? [];
    expect([age, seconds]).toEqual(['7200', '60']);
    await client.vanish();
    await gateway.disconnected();
    const next = await TextClient.open(gateway.url, 5, '(move)');
    next.sendText(`~!${connectionId}.${SECRET}`);
    expect((await next.replies.next()).move).not.toMatch(/^!/);
    const { client: publisher } = await TextClient.connect(gateway.url, { clientId: 'publisher' });
    await publisher.exchange(publish('a', 'x', { qos: 1 }));
    await next.pushes.next();
  });

  it('is answered by a CONNACK in the first reply where that says more', async () => {
    const { url } = await startGateway();
    const client = await TextClient.open(url, 5, '', offerOf(connectBytes({ clientId: '' })));
    expect(client.subprotocol).toBe(ANSWERS[1]);
    client.sendText('().');
    const { packets } = await client.replies.next();
    expect(packets).toMatchObject([
      { cmd: 'connack', reasonCode: 0, properties: { assignedClientIdentifier: expect.any(String) } },
    ]);
  });

  it('a second CONNECT, in a frame, breaks the protocol [MQTT-3.1.0-2]', async () => {
    const { url } = await startGateway();
    const client = await TextClient.open(url, 5, '', offerOf(connectBytes()));
    client.send([connect({ clientId: 'shaker' })]);
    expect((await client.pushes.next()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x82 }]);
  });

  it('takes a session over, as any CONNECT does [MQTT-3.1.4-3]', async () => {
    const { url } = await startGateway();
    const { client: first } = await TextClient.connect(url, { clientId: 'shaker' });
    expect(await chosen(url, offerOf(connectBytes()))).toBe(ANSWERS[0]);
    expect((await first.pushes.next()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8e }]);
  });
});

describe('a handshake whose CONNECT has to come as a frame does nothing for', () => {
  const bytes = connectBytes();
  const will = { topic: 'w', payload: Buffer.from('x'), qos: 0, retain: false, properties: {} };
  const falls: readonly (readonly [string, readonly string[]])[] = [
    ['a will', offerOf(connectBytes({ will }))],
    ['a session that may continue', offerOf(connectBytes({ cleanStart: false }))],
    ['a CONNECT that is refused', offerOf(connectBytes({ clientId: 'x'.repeat(1_500) }))],
    ['a packet that is no CONNECT', offerOf(Buffer.from('c000', 'hex'))],
    ['half a CONNECT', offerOf(bytes.subarray(0, 9))],
    ['a CONNECT with something behind it', offerOf(Buffer.concat([bytes, Buffer.from('c000', 'hex')]))],
    ['noise', offerOf(Buffer.from('f0e1d2c3b4', 'hex'))],
    ['base64 that is not canonical', [`mqtt-connect.${SECRET}.nudge.EB`, ...ANSWERS, ...FRAMES]],
    ['no secret', [`mqtt-connect..nudge.${bytes.toString('base64url')}`, ...ANSWERS, ...FRAMES]],
    ['a CONNECT offered twice', [connectProtocolOf(bytes, 'move'), ...offerOf(bytes)]],
    ['a header above 4 KB', [...offerOf(bytes), 'x'.repeat(4_096)]],
    ['no name for the answer', [connectProtocolOf(bytes), ANSWERS[0] ?? '', ...FRAMES]],
  ];

  it.each(falls)('%s', async (_, protocols) => {
    const { url, stores, failures } = await startGateway();
    expect(await chosen(url, protocols)).toBe(FRAMES[0]);
    expect(stores.sessions.count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('the subprotocols without CONNECT', async () => {
    const { url } = await startGateway();
    expect(await chosen(url, FRAMES)).toBe('mqtt-text-v1.1');
    expect(await chosen(url, ['mqtt-text-v1'])).toBe('mqtt-text-v1');
  });

  it('a header that is far too long does not keep the server busy', () => {
    const headers = { 'Sec-WebSocket-Protocol': offerOf(Buffer.alloc(200_000)).join(', ') };
    expect(offeredConnect(headers)).toBeUndefined();
  });
});

describe('handshakes that go wrong', () => {
  it('an event that comes twice does not end the connection, nor open another session', async () => {
    const results: number[] = [];
    const { url, stores } = await startGateway({
      wrap: (handlers: Handlers): Handlers => ({
        ...handlers,
        connect: async (event: ConnectEvent) => {
          const result = await handlers.connect(event);
          results.push((await handlers.connect(event)).statusCode);
          return result;
        },
      }),
    });
    const client = await TextClient.open(url, 5, '', offerOf(connectBytes()));
    expect(results).toEqual([410]);
    client.sendText('()wAA=');
    expect((await client.replies.next()).packets).toMatchObject([{ cmd: 'pingresp' }]);
    expect(stores.sessions.count()).toBe(1);
  });

  it.each(['before', 'after'])('a client whose $connect died %s it was done comes back', async (when) => {
    let isFirst = true;
    const gateway = await startGateway({
      wrap: (handlers: Handlers): Handlers => ({
        ...handlers,
        connect: async (event: ConnectEvent) => {
          const dies = isFirst;
          isFirst = false;
          if (dies && when === 'before') throw new Error('died');
          const result = await handlers.connect(event);
          if (dies) throw new Error('died');
          return result;
        },
      }),
    });
    await expect(shake(gateway.url, offerOf(connectBytes()))).rejects.toThrow('502');
    const client = await TextClient.open(gateway.url, 5, '', offerOf(connectBytes()));
    expect(client.subprotocol).toBe(ANSWERS[0]);
    client.sendText('()wAA=');
    await client.replies.next();
    expect(gateway.stores.sessions.count()).toBe(1);
    gateway.failures.length = 0;
  });

  it('a frame that asks is malformed where CONNECT came in a frame', async () => {
    const { url } = await startGateway();
    const { client } = await TextClient.connect(url);
    client.sendText('()wAA=');
    expect((await client.pushes.next()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x81 }]);
  });
});
