import { type FieldReader, shownBinary } from './field.ts';

type Read = (reader: FieldReader) => string;

const byte: Read = (reader) => String(reader.byte());
const flag: Read = (reader) => (reader.byte() === 1 ? '1 (yes)' : '0 (no)');
const uint16: Read = (reader) => String(reader.uint16());
const variable: Read = (reader) => String(reader.variableByteInteger());
const text: Read = (reader) => JSON.stringify(reader.text());
const binary: Read = (reader) => shownBinary(reader.binary());
const pair: Read = (reader) => `${JSON.stringify(reader.text())} = ${JSON.stringify(reader.text())}`;
const seconds: Read = (reader) => {
  const value = reader.uint32();
  return value === 0xffff_ffff ? 'never' : `${value} s`;
};
const payloadFormat: Read = (reader) => (reader.byte() === 1 ? '1 (UTF-8)' : '0 (bytes)');

/** Table 2-4 of MQTT 5.0. */
const PROPERTIES: Readonly<Record<number, readonly [name: string, read: Read]>> = {
  1: ['Payload Format Indicator', payloadFormat],
  2: ['Message Expiry Interval', seconds],
  3: ['Content Type', text],
  8: ['Response Topic', text],
  9: ['Correlation Data', binary],
  11: ['Subscription Identifier', variable],
  17: ['Session Expiry Interval', seconds],
  18: ['Assigned Client Identifier', text],
  19: ['Server Keep Alive', (reader) => `${reader.uint16()} s`],
  21: ['Authentication Method', text],
  22: ['Authentication Data', (reader) => `${reader.binary().length} bytes, not shown`],
  23: ['Request Problem Information', flag],
  24: ['Will Delay Interval', seconds],
  25: ['Request Response Information', flag],
  26: ['Response Information', text],
  28: ['Server Reference', text],
  31: ['Reason String', text],
  33: ['Receive Maximum', uint16],
  34: ['Topic Alias Maximum', uint16],
  35: ['Topic Alias', uint16],
  36: ['Maximum QoS', byte],
  37: ['Retain Available', flag],
  38: ['User Property', pair],
  39: ['Maximum Packet Size', (reader) => `${reader.uint32()} bytes`],
  40: ['Wildcard Subscription Available', flag],
  41: ['Subscription Identifier Available', flag],
  42: ['Shared Subscription Available', flag],
};

/** Properties of a packet that are read: a message may have 100,000, and an inspector shows some hundred. */
export const PROPERTIES_READ_MAX = 1_000;

/** Reads a property section: its length, then each property; of a very long one the beginning. */
export function readProperties(reader: FieldReader, title = 'Properties'): void {
  const start = reader.at;
  const length = reader.variableByteInteger();
  if (reader.isBrief) {
    reader.skip(length);
    return;
  }
  reader.note(title, length === 0 ? 'none' : `${length} bytes`, start);
  const end = reader.at + length;
  for (let count = 0; reader.at < end; count += 1) {
    const at = reader.at;
    if (count === PROPERTIES_READ_MAX) {
      reader.skip(end - at);
      reader.note('More properties', `${end - at} bytes, not shown`, at, 1);
      return;
    }
    const identifier = reader.byte();
    const known = PROPERTIES[identifier];
    if (known === undefined) {
      reader.skip(end - reader.at);
      reader.note(`Property ${identifier}`, 'unknown to MQTT 5.0', at, 1);
      return;
    }
    const [name, read] = known;
    reader.note(name, read(reader), at, 1);
  }
}
