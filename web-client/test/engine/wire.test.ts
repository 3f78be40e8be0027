import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { expect, test } from 'vitest';
import { PacketSplitter } from '../../src/engine/wire/packet-splitter.ts';
import { payloadOffset } from '../../src/engine/wire/publish-layout.ts';

const publishes = fc.array(
  fc.record({
    topic: fc.stringMatching(/^[a-z]{1,200}$/),
    payload: fc.uint8Array({ maxLength: 300 }),
    qos: fc.constantFrom(0, 1, 2),
    userProperties: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.string(), { minKeys: 1, maxKeys: 3 }),
  }),
  { minLength: 1, maxLength: 8 },
);

function encoded(
  {
    topic,
    payload,
    qos,
    userProperties,
  }: { topic: string; payload: Uint8Array; qos: number; userProperties: Record<string, string> },
  protocolVersion: 4 | 5,
): Uint8Array {
  const packet = {
    cmd: 'publish',
    topic,
    payload: Buffer.from(payload),
    qos: qos as 0 | 1 | 2,
    retain: false,
    dup: false,
    ...(qos > 0 ? { messageId: 5 } : {}),
    ...(protocolVersion === 5 ? { properties: { userProperties } } : {}),
  } as const;
  return new Uint8Array(mqttPacket.generate(packet, { protocolVersion }));
}

test('packets come out whole, however the stream was cut', () => {
  fc.assert(
    fc.property(publishes, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (packets, sizes) => {
      const expected = packets.map((packet) => encoded(packet, 5));
      const stream = Buffer.concat(expected);
      const splitter = new PacketSplitter();
      const found: Uint8Array[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        found.push(...splitter.push(new Uint8Array(stream.subarray(at, at + size))));
        at += size;
      }
      expect(found.map((packet) => [...packet])).toEqual(expected.map((packet) => [...packet]));
    }),
  );
});

test('the payload begins where mqtt-packet put it', () => {
  fc.assert(
    fc.property(publishes, fc.constantFrom(4 as const, 5 as const), (packets, protocolVersion) => {
      for (const packet of packets) {
        const bytes = encoded(packet, protocolVersion);
        const offset = payloadOffset(bytes, protocolVersion);
        expect([...bytes.subarray(offset)]).toEqual([...packet.payload]);
      }
    }),
  );
});
