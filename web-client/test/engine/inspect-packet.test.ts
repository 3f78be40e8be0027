import mqttPacket, { type Packet } from 'mqtt-packet';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { inspectPacket, summarizePacket } from '../../src/engine/inspect/inspect-packet.ts';
import { PROPERTIES_READ_MAX } from '../../src/engine/inspect/properties.ts';

function bytesOf(packet: Packet, protocolVersion = 5): Uint8Array {
  return new Uint8Array(mqttPacket.generate(packet, { protocolVersion }));
}

function fieldsOf(packet: Packet, protocolVersion = 5): Record<string, string> {
  const { fields } = inspectPacket(bytesOf(packet, protocolVersion), protocolVersion);
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
}

const CONNECT: Packet = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clientId: 'ada',
  clean: true,
  keepalive: 30,
  username: 'ada',
  password: Buffer.from('secret'),
  properties: { sessionExpiryInterval: 60, receiveMaximum: 10, userProperties: { a: ['1', '2'] } },
  will: {
    topic: 'last/words',
    payload: Buffer.from('bye'),
    qos: 2,
    retain: true,
    properties: { willDelayInterval: 5, contentType: 'text/plain' },
  },
};

const PACKETS: readonly Packet[] = [
  CONNECT,
  {
    cmd: 'connack',
    reasonCode: 0x87,
    sessionPresent: false,
    properties: { reasonString: 'no', serverKeepAlive: 9 },
  },
  {
    cmd: 'publish',
    topic: 'a/b',
    payload: Buffer.from('hello'),
    qos: 1,
    retain: true,
    dup: true,
    messageId: 7,
    properties: { topicAlias: 3, correlationData: Buffer.from([0, 1]), subscriptionIdentifier: 200 },
  },
  { cmd: 'puback', messageId: 7, reasonCode: 0x10 },
  { cmd: 'pubrec', messageId: 7 },
  { cmd: 'pubrel', messageId: 7 },
  { cmd: 'pubcomp', messageId: 7, reasonCode: 0x92 },
  {
    cmd: 'subscribe',
    messageId: 8,
    subscriptions: [
      { topic: 'a/#', qos: 2, nl: true, rap: true, rh: 2 },
      { topic: '$share/g/b', qos: 0 },
    ],
    properties: { subscriptionIdentifier: 5 },
  },
  { cmd: 'suback', messageId: 8, granted: [2, 0x87] },
  { cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['a/#'] },
  { cmd: 'unsuback', messageId: 9, granted: [0x11] },
  { cmd: 'pingreq' },
  { cmd: 'pingresp' },
  { cmd: 'disconnect', reasonCode: 0x8e, properties: { reasonString: 'elsewhere' } },
  { cmd: 'auth', reasonCode: 0x18, properties: { authenticationMethod: 'x' } },
];

describe.each(PACKETS)('$cmd', (packet) => {
  test('every byte belongs to a field, and nothing is malformed', () => {
    const bytes = bytesOf(packet);
    const { fields, name } = inspectPacket(bytes, 5);
    expect(name).toBe(packet.cmd.toUpperCase());
    const covered = new Set(
      fields.flatMap(({ offset, length }) => Array.from({ length }, (_, index) => offset + index)),
    );
    expect(covered.size).toBe(bytes.length);
    expect(fields.map((field) => field.name)).not.toContain('Malformed');
    expect(fields.map((field) => field.name)).not.toContain('Unexpected bytes');
  });

  test('its summary alone is the same', () => {
    const { name, summary } = inspectPacket(bytesOf(packet), 5);
    expect(summarizePacket(bytesOf(packet), 5)).toEqual({ name, summary });
  });

  test('cut short anywhere, it says so and does not throw', () => {
    const bytes = bytesOf(packet);
    for (let length = 1; length < bytes.length; length += 1) {
      expect(inspectPacket(bytes.subarray(0, length), 5).fields.length).toBeGreaterThan(0);
    }
  });
});

test('CONNECT shows its will, and no password', () => {
  const fields = fieldsOf(CONNECT);
  expect(fields).toMatchObject({
    'Protocol Version': '5 (5.0)',
    'Keep Alive': '30 s',
    'Session Expiry Interval': '60 s',
    'Will Topic': 'last/words',
    'Will Payload': '"bye"',
    'Will Delay Interval': '5 s',
    'Connect Flags': 'Clean Start, Will QoS 2, Will Retain, User Name, Password',
  });
  expect(JSON.stringify(fields)).not.toContain('secret');
});

test('PUBLISH says where each part is', () => {
  const packet: Packet = {
    cmd: 'publish',
    topic: 'a/b',
    payload: Buffer.from('hi'),
    qos: 0,
    retain: false,
    dup: false,
  };
  const { fields, summary } = inspectPacket(bytesOf(packet), 5);
  expect(fields.map(({ name, offset, length }) => [name, offset, length])).toEqual([
    ['Fixed header', 0, 1],
    ['Remaining Length', 1, 1],
    ['Topic Name', 2, 5],
    ['Properties', 7, 1],
    ['Payload', 8, 2],
  ]);
  expect(summary).toBe('a/b  QoS 0, 2 bytes');
});

test('reason codes are in words', () => {
  expect(fieldsOf({ cmd: 'suback', messageId: 1, granted: [0x97] })['Reason Code']).toBe(
    '0x97 Quota exceeded',
  );
  expect(fieldsOf({ cmd: 'connack', returnCode: 5, sessionPresent: false }, 4)['Return Code']).toBe(
    '5 not authorized',
  );
});

test('a length that never ends is malformed', () => {
  const { fields } = inspectPacket(new Uint8Array([0x30, 0xff, 0xff, 0xff, 0xff, 0x01]), 5);
  expect(fields.at(-1)).toMatchObject({ name: 'Malformed', offset: 5, length: 1 });
});

test('of very many properties the beginning is read, and then the payload', () => {
  const userProperties = { p: Array.from({ length: 60_000 }, (_, index) => String(index)) };
  const properties = { userProperties };
  const { fields, summary } = inspectPacket(
    bytesOf({ cmd: 'publish', topic: 'a/b', payload: 'x', qos: 0, retain: false, dup: false, properties }),
    5,
  );
  expect(fields.filter(({ name }) => name === 'User Property')).toHaveLength(PROPERTIES_READ_MAX);
  expect(fields.slice(-2)).toMatchObject([{ name: 'More properties' }, { name: 'Payload', length: 1 }]);
  expect(summary).toBe('a/b  QoS 0, 1 bytes');
});

test('the summary alone reads no property and no payload', () => {
  const properties = { contentType: 'text/plain', userProperties: { a: '1', b: '2' } };
  const bytes = bytesOf({
    ...{ cmd: 'publish', topic: 'a/b', payload: 'hello', qos: 0, retain: false, dup: false },
    properties,
  });
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  onTestFinished(() => decode.mockRestore());
  expect(summarizePacket(bytes, 5).summary).toBe('a/b  QoS 0, 5 bytes');
  expect(decode).toHaveBeenCalledTimes(1);
});

test('what follows an unknown property is no payload', () => {
  const bytes = new Uint8Array([0x30, 8, 0, 1, 97, 3, 99, 1, 2, 120]);
  const { fields, summary } = inspectPacket(bytes, 5);
  expect(fields.slice(-2)).toMatchObject([
    { name: 'Property 99', length: 3 },
    { name: 'Payload', length: 1 },
  ]);
  expect(summary).toBe(summarizePacket(bytes, 5).summary);
});
