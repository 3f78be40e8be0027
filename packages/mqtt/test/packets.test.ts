import { describe, expect, it } from 'vitest';
import { decodePacket, encodePacket, PacketDecoder, publishLength } from '../src/index.ts';
import { ROWS, type Row } from './packet-table.ts';

function decoderFor(row: Row): PacketDecoder {
  const isConnect = row.packet.type === 'connect';
  return new PacketDecoder({
    maximumPacketSize: row.bytes.length,
    role: row.receiver,
    ...(isConnect ? {} : { protocolVersion: row.version }),
  });
}

describe('the table of packets', () => {
  it.each(ROWS)('decodes $name', (row) => {
    expect(decodePacket(row.bytes, row.version, row.receiver)).toEqual(row.packet);
  });

  it.each(ROWS.filter((row) => row.notCanonical === undefined))('encodes $name', (row) => {
    expect(Buffer.from(encodePacket(row.packet, row.version))).toEqual(row.bytes);
  });

  it.each(ROWS)('decodes $name one byte at a time', (row) => {
    const decoder = decoderFor(row);
    const results = [...row.bytes].map((byte) => decoder.push(Uint8Array.of(byte)));
    expect(results.at(-1)).toEqual([row.packet]);
    expect(results.slice(0, -1).flat()).toEqual([]);
  });

  it.each(ROWS)('refuses $name at every place where it can be cut short', (row) => {
    for (let length = 0; length < row.bytes.length; length += 1) {
      expect(decodePacket(row.bytes.subarray(0, length), row.version, row.receiver)).toMatchObject({
        reasonCode: 0x81,
      });
    }
  });

  it.each(ROWS.filter((row) => row.packet.type === 'publish'))('measures $name', (row) => {
    if (row.packet.type === 'publish') expect(publishLength(row.packet, row.version)).toBe(row.bytes.length);
  });

  it('decodes many packets from one push, and the rest with the next', () => {
    const rows = ROWS.filter((row) => row.version === 5 && row.receiver === 'client');
    const bytes = Buffer.concat(rows.map((row) => row.bytes));
    const decoder = new PacketDecoder({ maximumPacketSize: 1000, role: 'client' });
    const results = [...decoder.push(bytes.subarray(0, -3)), ...decoder.push(bytes.subarray(-3))];
    expect(results).toEqual(rows.map((row) => row.packet));
  });
});

describe('[MQTT-2.2.2-1] an empty property section', () => {
  it('is written as length 0', () => {
    const publish = { type: 'publish', topic: 't', payload: Buffer.alloc(0), packetId: 0 } as const;
    const bytes = encodePacket({ ...publish, qos: 0, retain: false, dup: false, properties: {} }, 5);
    expect([...bytes]).toEqual([0x30, 4, 0, 1, 0x74, 0]);
  });
});
