import { reasonCodeName } from '@apus/mqtt/reason-codes';
import { FieldReader, PacketEnds, type PacketField, shownBinary } from './field.ts';
import { inspectConnect } from './inspect-connect.ts';
import { type PacketName, PacketType, packetName } from './packet-types.ts';
import { readProperties } from './properties.ts';

export interface InspectedPacket {
  readonly name: PacketName;
  readonly fields: readonly PacketField[];
  /** The most important fields, in one line. */
  readonly summary: string;
}

type Inspect = (reader: FieldReader, firstByte: number, version: number) => string;

const INSPECTORS: Readonly<Record<number, Inspect>> = {
  [PacketType.CONNECT]: inspectConnect,
  [PacketType.CONNACK]: inspectConnack,
  [PacketType.PUBLISH]: inspectPublish,
  [PacketType.PUBACK]: inspectAcknowledgement,
  [PacketType.PUBREC]: inspectAcknowledgement,
  [PacketType.PUBREL]: inspectAcknowledgement,
  [PacketType.PUBCOMP]: inspectAcknowledgement,
  [PacketType.SUBSCRIBE]: inspectSubscribe,
  [PacketType.SUBACK]: inspectSuback,
  [PacketType.UNSUBSCRIBE]: inspectUnsubscribe,
  [PacketType.UNSUBACK]: inspectSuback,
  [PacketType.DISCONNECT]: inspectReason,
  [PacketType.AUTH]: inspectReason,
};

/** Return codes of CONNACK in MQTT 3.1.1 (table 3.1). */
const RETURN_CODES = [
  'Connection Accepted',
  'unacceptable protocol version',
  'identifier rejected',
  'Server unavailable',
  'bad user name or password',
  'not authorized',
];

/**
 * Explains a packet byte by byte. An error is its last field: this never throws.
 *
 * @param protocolVersion of the connection, 4 or 5; a CONNECT contains its own
 */
export function inspectPacket(bytes: Uint8Array, protocolVersion: number): InspectedPacket {
  const reader = new FieldReader(bytes, false);
  return { ...read(reader, protocolVersion), fields: reader.fields };
}

/** The name and the summary of a packet, without a look at its properties: for a row of a table. */
export function summarizePacket(bytes: Uint8Array, protocolVersion: number): Omit<InspectedPacket, 'fields'> {
  return read(new FieldReader(bytes, true), protocolVersion);
}

function read(reader: FieldReader, protocolVersion: number): Omit<InspectedPacket, 'fields'> {
  const firstByte = reader.byte();
  const name = packetName(firstByte >> 4);
  let summary = '';
  try {
    reader.note('Fixed header', `${name}, flags ${(firstByte & 0x0f).toString(2).padStart(4, '0')}`, 0);
    const at = reader.at;
    reader.note('Remaining Length', `${reader.variableByteInteger()} bytes`, at);
    summary = INSPECTORS[firstByte >> 4]?.(reader, firstByte, protocolVersion) ?? '';
    if (reader.left > 0) noteRest(reader, 'Unexpected bytes');
  } catch (error) {
    if (!(error instanceof PacketEnds)) throw error;
    const at = reader.at;
    reader.rest();
    reader.note('Malformed', error.message, at);
    summary = error.message;
  }
  return { name, summary };
}

export function reasonText(code: number): string {
  return `0x${code.toString(16).padStart(2, '0')} ${reasonCodeName(code)}`;
}

function noteRest(reader: FieldReader, name: string): void {
  const at = reader.at;
  const bytes = reader.rest();
  if (reader.isBrief) return;
  reader.note(name, `${bytes.length} bytes${bytes.length === 0 ? '' : `: ${shownBinary(bytes)}`}`, at);
}

function readPacketId(reader: FieldReader): number {
  const at = reader.at;
  const id = reader.uint16();
  reader.note('Packet Identifier', String(id), at);
  return id;
}

function inspectConnack(reader: FieldReader, _firstByte: number, version: number): string {
  const flagsAt = reader.at;
  const isPresent = (reader.byte() & 1) === 1;
  reader.note('Session Present', isPresent ? 'yes' : 'no', flagsAt);
  const codeAt = reader.at;
  const code = reader.byte();
  const said = version === 5 ? reasonText(code) : `${code} ${RETURN_CODES[code] ?? 'unknown'}`;
  reader.note(version === 5 ? 'Reason Code' : 'Return Code', said, codeAt);
  if (version === 5) readProperties(reader);
  return isPresent ? `${said}, session present` : said;
}

function inspectPublish(reader: FieldReader, firstByte: number, version: number): string {
  const qos = (firstByte >> 1) & 3;
  const flags = [
    `QoS ${qos}`,
    ...((firstByte & 1) === 1 ? ['retain'] : []),
    ...((firstByte & 8) === 8 ? ['dup'] : []),
  ].join(', ');
  const at = reader.at;
  const topic = reader.text();
  reader.note('Topic Name', topic === '' ? '(empty: the alias stands for it)' : topic, at);
  const id = qos > 0 ? `, id ${readPacketId(reader)}` : '';
  if (version === 5) readProperties(reader);
  const length = reader.left;
  noteRest(reader, 'Payload');
  return `${topic}  ${flags}${id}, ${length} bytes`;
}

/** PUBACK, PUBREC, PUBREL, PUBCOMP; in their short form Success (3.4.2.1). */
function inspectAcknowledgement(reader: FieldReader, _firstByte: number, version: number): string {
  const id = readPacketId(reader);
  if (reader.left === 0) return `id ${id}`;
  const at = reader.at;
  const code = reader.byte();
  reader.note('Reason Code', reasonText(code), at);
  if (version === 5 && reader.left > 0) readProperties(reader);
  return `id ${id}, ${reasonText(code)}`;
}

function inspectSubscribe(reader: FieldReader, _firstByte: number, version: number): string {
  const id = readPacketId(reader);
  if (version === 5) readProperties(reader);
  const filters: string[] = [];
  while (reader.left > 0) {
    const at = reader.at;
    const filter = reader.text();
    const options = reader.byte();
    const said = [`QoS ${options & 3}`, ...(version === 5 ? optionTexts(options) : [])];
    reader.note('Topic Filter', `${filter}: ${said.join(', ')}`, at, 1);
    filters.push(`${filter} (QoS ${options & 3})`);
  }
  return `${filters.join(', ')}, id ${id}`;
}

/** Subscription Options (3.8.3.1). */
function optionTexts(options: number): string[] {
  return [
    ...((options & 4) === 4 ? ['No Local'] : []),
    ...((options & 8) === 8 ? ['Retain As Published'] : []),
    `Retain Handling ${(options >> 4) & 3}`,
  ];
}

function inspectSuback(reader: FieldReader, _firstByte: number, version: number): string {
  const id = readPacketId(reader);
  if (version === 5) readProperties(reader);
  const codes: string[] = [];
  while (reader.left > 0) {
    const at = reader.at;
    const code = reader.byte();
    reader.note('Reason Code', reasonText(code), at, 1);
    codes.push(code <= 2 ? `QoS ${code}` : reasonText(code));
  }
  return `${codes.join(', ')}${codes.length === 0 ? '' : ', '}id ${id}`;
}

function inspectUnsubscribe(reader: FieldReader, _firstByte: number, version: number): string {
  const id = readPacketId(reader);
  if (version === 5) readProperties(reader);
  const filters: string[] = [];
  while (reader.left > 0) {
    const at = reader.at;
    const filter = reader.text();
    reader.note('Topic Filter', filter, at, 1);
    filters.push(filter);
  }
  return `${filters.join(', ')}, id ${id}`;
}

/** DISCONNECT and AUTH; without a Reason Code it is 0x00 (3.14.2.1). */
function inspectReason(reader: FieldReader, _firstByte: number, version: number): string {
  if (version !== 5 || reader.left === 0) return '';
  const at = reader.at;
  const code = reader.byte();
  reader.note('Reason Code', reasonText(code), at);
  if (reader.left > 0) readProperties(reader);
  return reasonText(code);
}
