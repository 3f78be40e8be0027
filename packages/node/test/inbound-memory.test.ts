import { generate } from 'mqtt-packet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { RawClient } from '../../../test/support/raw-client.ts';
import { BytesBudget, type BytesHolder } from '../src/bytes-budget.ts';
import type { NodeOptions } from '../src/index.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const KIB = 1024;

function connectOf(version: 4 | 5, fields: Record<string, unknown> = {}): Buffer {
  return generate(
    {
      ...{
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: version,
        clean: true,
        clientId: 'a',
        keepalive: 0,
      },
      ...fields,
    } as never,
    { protocolVersion: version } as never,
  );
}

/** A WebSocket whose frames a test cuts as it likes; `ended` tells what came, and the close. */
async function openSocket(url: string) {
  const socket = new WebSocket(url, 'mqtt');
  onTestFinished(() => socket.terminate());
  const received: Buffer[] = [];
  socket.on('message', (bytes: Buffer) => received.push(bytes));
  socket.on('error', () => {});
  const ended = new Promise<Buffer[]>((resolve) => socket.on('close', () => resolve(received)));
  await new Promise((resolve) => socket.on('open', resolve));
  return { socket, ended };
}

/** So many bytes of a PUBLISH that is longer. */
function beginningOfPublish(bytes: number): Buffer {
  const packet = {
    cmd: 'publish',
    topic: 't',
    payload: Buffer.alloc(bytes),
    qos: 0,
    dup: false,
    retain: false,
  };
  return generate(packet as never, { protocolVersion: 5 } as never).subarray(0, bytes);
}

/** CONNACK of MQTT 5: reason code in the fourth byte. */
const isConnack = (bytes: Buffer | undefined, reasonCode: number): boolean =>
  bytes?.[0] === 0x20 && bytes[3] === reasonCode;

describe('before CONNACK a client may send 128 KiB', () => {
  test('which hold the largest will, and a token beside it', async () => {
    const node = await nodeForTest();
    const will = { topic: 'w', payload: Buffer.alloc(65_535), qos: 0, retain: false };
    const { connack } = await RawClient.connect(node.url, {
      will,
      username: 'u',
      password: Buffer.alloc(60_000),
    });
    expect(connack.reasonCode).toBe(0);
  });

  test.each([
    ['in one frame', (socket: WebSocket, bytes: Buffer) => socket.send(bytes)],
    [
      'in fragments of a message that never ends',
      (socket: WebSocket, bytes: Buffer) => {
        for (let at = 0; at < bytes.length; at += 10_000)
          socket.send(bytes.subarray(at, at + 10_000), { fin: false });
      },
    ],
    [
      'in many messages',
      (socket: WebSocket, bytes: Buffer) => {
        for (let at = 0; at < bytes.length; at += 10_000) socket.send(bytes.subarray(at, at + 10_000));
      },
    ],
  ])(
    '[SEC-MEMORY-1] and a larger CONNECT, %s, is answered 0x95, or closed in MQTT 3.1.1',
    async (_how, send) => {
      const node = await nodeForTest();
      const fields = {
        will: { topic: 'w', payload: Buffer.alloc(65_535), qos: 0, retain: false },
        ...{ username: 'x'.repeat(60_000), password: Buffer.alloc(60_000) },
      };
      const in5 = await openSocket(node.url);
      send(in5.socket, connectOf(5, fields));
      const [connack, ...others] = await in5.ended;
      expect(isConnack(connack, 0x95)).toBe(true);
      expect(others).toEqual([]);
      const in311 = await openSocket(node.url);
      send(in311.socket, connectOf(4, fields));
      expect(await in311.ended).toEqual([]);
    },
  );

  test('and of a message of megabytes with a small CONNECT at its head nothing waits for the end: the next packet counts', async () => {
    const node = await nodeForTest();
    const { socket, ended } = await openSocket(node.url);
    const bytes = Buffer.alloc(4_000_000);
    connectOf(5).copy(bytes);
    socket.send(bytes, { fin: false });
    const answers = Buffer.concat(await ended);
    expect(isConnack(answers, 0)).toBe(true);
    // The zeros behind it are no packet.
    const disconnect = answers.subarray(2 + (answers[1] ?? 0));
    expect([disconnect[0], disconnect[2]]).toEqual([0xe0, 0x81]);
  });

  test('and packets behind CONNECT wait in the network while a password is checked', async () => {
    let admit = (): void => {};
    const answer = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const authenticator = {
      authenticate: async () => {
        await answer;
        return { tenant: 'default', name: 'a' };
      },
    };
    const node = await nodeForTest({ authenticator } as NodeOptions);
    const { socket } = await openSocket(node.url);
    socket.send(connectOf(5));
    const publish = generate(
      {
        cmd: 'publish',
        topic: 't',
        payload: Buffer.alloc(1_000_000),
        qos: 1,
        messageId: 1,
        dup: false,
        retain: false,
      },
      { protocolVersion: 5 } as never,
    );
    const acknowledged = new Promise((resolve) => {
      socket.on('message', (bytes: Buffer) => bytes[0] === 0x40 && resolve(true));
    });
    socket.send(publish);
    // A later packet of another client has been read: so has all that this one may send.
    await (await RawClient.open(node.url)).close();
    admit();
    expect(await acknowledged).toBe(true);
  });
});

describe('messages that all clients have begun to send', () => {
  const LIMITS = { inboundTotalBytesMax: 2_000 * KIB };

  test('[SEC-MEMORY-2] end the clients that never finish a message when there is no more room, and not one that does', async () => {
    const node = await nodeForTest(LIMITS);
    const honest = await RawClient.connect(node.url);
    const attackers = [];
    for (let index = 0; index < 6; index += 1) {
      const attacker = await openSocket(node.url);
      attacker.socket.send(connectOf(5, { clientId: `attacker-${index}` }));
      await new Promise((resolve) => attacker.socket.once('message', resolve));
      attacker.socket.send(beginningOfPublish(600 * KIB), { fin: false });
      attackers.push(attacker);
    }
    const [connack, disconnect] = await Promise.race(attackers.map(({ ended }) => ended));
    expect(isConnack(connack, 0)).toBe(true);
    expect([disconnect?.[0], disconnect?.[2]]).toEqual([0xe0, 0x97]);
    honest.client.send({
      ...{ cmd: 'publish', topic: 't', payload: Buffer.alloc(500 * KIB), qos: 1, messageId: 1 },
    });
    expect(await honest.client.expect('puback')).toMatchObject({ messageId: 1 });
  });

  test('end those clients with 0x97', async () => {
    const node = await nodeForTest({ inboundTotalBytesMax: 100 * KIB });
    const { socket, ended } = await openSocket(node.url);
    socket.send(connectOf(5));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.send(beginningOfPublish(200 * KIB), { fin: false });
    const disconnect = (await ended).at(-1);
    expect([disconnect?.[0], disconnect?.[2]]).toEqual([0xe0, 0x97]);
  });

  test('include packets that are split across whole messages', async () => {
    const node = await nodeForTest({ inboundTotalBytesMax: 100 * KIB });
    const { client } = await RawClient.connect(node.url);
    const publish = generate(
      { cmd: 'publish', topic: 't', payload: Buffer.alloc(400 * KIB), qos: 0, dup: false, retain: false },
      { protocolVersion: 5 } as never,
    );
    for (let at = 0; at < 300 * KIB; at += 50 * KIB) client.sendBytes(publish.subarray(at, at + 50 * KIB));
    expect((await client.expect('disconnect')).reasonCode).toBe(0x97);
  });
});

describe('the budget', () => {
  /** Holders by name, in the order in which they were ended. */
  function budgetOf(bytesMax: number, holders: Record<string, { heldBytes: number; heldSinceMs: number }>) {
    const ended: string[] = [];
    const list = Object.entries(holders).map(([name, { heldBytes, heldSinceMs }]): BytesHolder => {
      const holder = {
        heldBytes,
        heldSinceMs,
        overload: () => {
          ended.push(name);
          const bytes = holder.heldBytes;
          holder.heldBytes = 0;
          budget.change(-bytes);
        },
      };
      return holder;
    });
    const budget: BytesBudget = new BytesBudget(bytesMax, () => list, { now: () => 100_000 });
    for (const { heldBytes } of list) budget.change(heldBytes);
    return ended;
  }

  test('ends a client that holds little for long before one that has just begun a large message', () => {
    const slow = { heldBytes: 200, heldSinceMs: 0 };
    const ended = budgetOf(1000, { slow, other: { ...slow }, busy: { heldBytes: 700, heldSinceMs: 99_900 } });
    expect(ended).toEqual(['slow', 'other']);
  });

  test('ends no client while there is room', () => {
    expect(budgetOf(1000, { a: { heldBytes: 1000, heldSinceMs: 0 } })).toEqual([]);
  });
});

test('what clients that are gone have sent counts until it is handled, and a node stops without it [SEC-MEMORY-10]', async () => {
  const clock = new FakeScheduler();
  const never = () => new Promise<never>(() => {});
  const authorizer = { mayPublish: never, maySubscribe: never };
  const limits = { inboundTotalBytesMax: 450 * KIB, inboundBufferBytesMax: 256 * KIB };
  const node = await nodeForTest({ clock, authorizer, ...limits });
  const open = async () => {
    const health = await (await fetch(new URL('/healthz', node.httpUrl))).json();
    return (health as { connections: number }).connections;
  };
  for (const clientId of ['a', 'b', 'c']) {
    const { client } = await RawClient.connect(node.url, { clientId });
    for (let messageId = 1; messageId <= 20; messageId += 1)
      client.send({ cmd: 'publish', topic: 't', qos: 1, messageId, payload: Buffer.alloc(10 * KIB) });
    client.close();
    await client.expectClose();
  }
  await expect.poll(open, { timeout: PATIENCE_MS }).toBe(3);
  // The third is beyond the budget: one is given up, a moment later.
  clock.advance(1_000);
  expect(await open()).toBe(2);
  await node.stop();
});
