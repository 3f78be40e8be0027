import { PacketDecoder } from '@apus/mqtt';
import { generate } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { FakeDoor } from './support/fake-door.ts';

const MEGABYTE = 1_000_000;
const ONE = Buffer.from('1');
const WAITS = { clientId: 'away', cleanStart: false, properties: { sessionExpiryInterval: 60 } };

/** Packets that came in one WebSocket message of a megabyte. */
function readTogether(...packets: Record<string, unknown>[]) {
  const bytes = new Uint8Array(MEGABYTE);
  const encoded = packets.map((packet) => generate(packet as never, { protocolVersion: 5 } as never));
  const all = Buffer.concat(encoded);
  bytes.set(all);
  return new PacketDecoder({ maximumPacketSize: MEGABYTE }).push(bytes.subarray(0, all.length));
}

const CONNECT = {
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: 'c', clean: true, keepalive: 0 },
  will: {
    ...{ topic: 't', payload: ONE, qos: 1, retain: true },
    properties: { correlationData: ONE, willDelayInterval: 60 },
  },
  properties: { sessionExpiryInterval: 60 },
};
const PUBLISH = {
  ...{ cmd: 'publish', topic: 't', payload: ONE, qos: 1, messageId: 1, dup: false, retain: true },
  properties: { correlationData: ONE },
};

describe('the stored parts of a packet keep no reference to the bytes read with it [SEC-MEMORY-5]', () => {
  async function receive(...packets: Record<string, unknown>[]) {
    const door = new FakeDoor();
    const away = await door.connect(WAITS);
    await door.subscribe(away, 't', 1);
    await door.cut(away);
    const link = door.open();
    for (const packet of readTogether(...packets)) await door.broker.receive(link, packet);
    return { door, link };
  }
  const page = { messages: 10, bytes: MEGABYTE };

  it('of a message that is retained, and queued', async () => {
    const { door } = await receive(CONNECT, PUBLISH);
    const { messages } = await door.stores.retained.match('default', 't', door.nowMs, undefined, page);
    const record = await door.stores.sessions.get('default', 'away');
    const queued = record && (await door.stores.queues.unacknowledged(record.session));
    for (const message of [messages[0], queued?.[0]?.message]) {
      expect(message?.payload.buffer.byteLength).toBe(1);
      expect(message?.properties.correlationData?.buffer.byteLength).toBe(1);
    }
  });

  it('of a will', async () => {
    const { door } = await receive(CONNECT);
    const will = (await door.stores.sessions.get('default', 'c'))?.will;
    expect(will?.payload.buffer.byteLength).toBe(1);
    expect(will?.properties.correlationData?.buffer.byteLength).toBe(1);
  });
});
