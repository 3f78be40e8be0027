import { beforeEach, describe, expect, test } from 'vitest';
import { Harness, publish, subscribe } from './support/harness.ts';

const ACCEPTED = 'mqtt-text-v1.1-0';
const HANDLED = 'mqtt-text-v1.1-1';
const FRAMES = ['mqtt-text-v1.1', 'mqtt-text-v1'];
/** A server without text frames chooses the last one. */
const OFFERED = [...FRAMES, 'mqtt'];
const CONNECT_SUBPROTOCOL = /^mqtt-connect\.([\w-]{22})\.([a-z+]+)\.([\w-]+)$/;

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

const offeredConnect = () => harness.gateway.protocols.find((each) => each.startsWith('mqtt-connect.'));

describe('CONNECT in the handshake (15)', () => {
  test('is offered in subprotocol names, in unpadded base64url', async () => {
    await harness.dial();
    const [, secret, names, connect = ''] = CONNECT_SUBPROTOCOL.exec(offeredConnect() ?? '') ?? [];
    expect(harness.gateway.protocols.slice(1)).toEqual([ACCEPTED, HANDLED, ...OFFERED]);
    expect(Buffer.from(secret ?? '', 'base64url')).toHaveLength(16);
    expect(names).toBe('nudge+move+resume+close+alive');
    const packet = Buffer.from(connect, 'base64url');
    expect(packet.subarray(0, 2).toString('hex')).toBe('100d');
    // The heartbeat, as in a frame.
    expect(packet.readUInt16BE(10)).toBe(540);
  });

  test.each([
    [4, '20020000'],
    [5, '200b0000082104002700005ffd'],
  ] as const)('MQTT %i: the library sees CONNACK, and no frame was sent for it', async (version, connack) => {
    const got: string[] = [];
    harness.version = version;
    await harness.dial(undefined, { protocolVersion: version });
    harness.socket.addEventListener('message', ({ data }: { data: ArrayBuffer }) =>
      got.push(Buffer.from(data).toString('hex')),
    );
    harness.gateway.open(ACCEPTED);
    await harness.clock.runDue();
    expect(got).toEqual([connack]);
    expect(harness.gateway.texts).toEqual([]);
    expect(harness.events).toEqual([{ type: 'connected' }]);
  });

  test('is followed by a first frame that asks for the extensions and completes the ticket', async () => {
    await harness.open({}, 4, ACCEPTED);
    await harness.write(subscribe('a'));
    expect(harness.gateway.texts).toEqual([expect.stringMatching(/^\(\)[\w+/=]+$/)]);
    await harness.say('(nudge,move,resume,close)~Kq3bQcf5oAMCJ1w=,7200,60:kAMAAQE=');
    harness.gateway.end(1006);
    await harness.clock.runDue();
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    const [, secret] = CONNECT_SUBPROTOCOL.exec(harness.sockets[0]?.protocols[0] ?? '') ?? [];
    expect(harness.gateway.texts).toEqual([`~!Kq3bQcf5oAMCJ1w=.${secret}`]);
    expect(harness.gateway.protocols).toEqual(FRAMES);
  });

  test('asks once, and closes with the DISCONNECT code when the server takes it', async () => {
    await harness.open({}, 4, ACCEPTED);
    await harness.write(publish('a', 1));
    await harness.say('(close):QAIAAQ==');
    await harness.write(publish('b', 1));
    expect(harness.gateway.texts.map((text) => text.startsWith('()'))).toEqual([true, false]);
    await harness.reply([{ cmd: 'puback', messageId: 1 }]);
    await harness.write({ cmd: 'disconnect' });
    expect(harness.gateway.closedWith?.code).toBe(4001);
  });

  test('sends DISCONNECT as a frame before the server has taken any extension', async () => {
    await harness.open({}, 4, ACCEPTED);
    await harness.write({ cmd: 'disconnect' });
    expect(harness.gateway.closedWith).toBeUndefined();
    expect(harness.gateway.texts).toEqual(['()4AA=']);
  });

  test('gets a CONNACK with properties with the first reply, and nothing before it', async () => {
    await harness.open({}, 5, HANDLED);
    expect(harness.gateway.texts).toEqual(['().']);
    await harness.push(publish('early'));
    expect(harness.received).toEqual([]);
    const connack = {
      cmd: 'connack',
      sessionPresent: false,
      reasonCode: 0,
      properties: { receiveMaximum: 7 },
    };
    await harness.say(`(close):${harness.bytes([connack as never]).toString('base64')}`);
    expect(harness.topics).toEqual(['connack', 'early']);
    expect(harness.received[0]).toMatchObject({ properties: { receiveMaximum: 7 } });
  });

  test.each([
    ['mqtt-text-v1.1', '(nudge,move,resume,close,alive)'],
    ['mqtt-text-v1', ''],
  ])('is a frame where the server chooses %s', async (protocol, offer) => {
    await harness.open({}, 4, protocol);
    expect(harness.gateway.texts).toEqual([`${offer}EA0ABE1RVFQEAgIcAAFj`]);
  });

  const will = { topic: 'w', payload: Buffer.from('x'), qos: 0, retain: false } as const;
  test.each([
    ['a will', { will }],
    ['a session that may continue', { clean: false }],
    ['more bytes than a header takes', { username: 'u'.repeat(3_000) }],
  ])('is no part of a handshake with %s', async (_, fields) => {
    await harness.dial(undefined, fields);
    expect(harness.gateway.protocols).toEqual(OFFERED);
  });

  test('is not used if the program has an Authentication Method of its own', async () => {
    harness.version = 5;
    await harness.dial(undefined, {
      protocolVersion: 5,
      properties: { authenticationMethod: 'SCRAM' },
    });
    expect(harness.gateway.protocols).toEqual(OFFERED);
  });

  test('is left out after a handshake that failed, and tried again after that', async () => {
    const seen: boolean[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await harness.dial();
      seen.push(offeredConnect() !== undefined);
      harness.gateway.fail(new Error('Unexpected server response: 431'));
      await harness.clock.runDue();
    }
    expect(seen).toEqual([true, false, true]);
  });

  test('keeps the header below 4 KB', async () => {
    await harness.dial(undefined, { username: 'u'.repeat(2_870) });
    expect(offeredConnect()).toBeDefined();
    expect(harness.gateway.protocols.join(', ').length).toBeLessThan(4_096);
  });
});
