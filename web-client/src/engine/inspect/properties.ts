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

/** Reads a property section: its length, then each property. */
export function readProperties(reader: FieldReader, title = 'Properties'): void {
  const start = reader.at;
  const length = reader.variableByteInteger();
  reader.note(title, length === 0 ? 'none' : `${length} bytes`, start);
  const end = reader.at + length;
  while (reader.at < end) {
    const at = reader.at;
    const identifier = reader.byte();
    const known = PROPERTIES[identifier];
    if (known === undefined) {
      reader.note(`Property ${identifier}`, 'unknown to MQTT 5.0', at, 1);
      return;
    }
    const [name, read] = known;
    reader.note(name, read(reader), at, 1);
  }
}
