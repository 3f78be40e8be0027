/**
 * Packets written by hand: hexadecimal with spaces, lengths counted for us unless the length is what a test is about.
 */

/** A control packet: its first byte, the Remaining Length, and the rest. */
export function control(firstByte: string, ...rest: string[]): string {
  const body = rest.join('');
  return firstByte + variableByteInteger(byteCount(body)) + body;
}

/** A Property Length and the properties. */
export function properties(...content: string[]): string {
  const body = content.join('');
  return variableByteInteger(byteCount(body)) + body;
}

/** A length of two bytes and the content: a UTF-8 Encoded String or Binary Data. */
export function counted(content: string): string {
  return byteCount(content).toString(16).padStart(4, '0') + content;
}

/** A UTF-8 Encoded String of this text. */
export function text(value: string): string {
  return counted(Buffer.from(value).toString('hex'));
}

export interface ConnectParts {
  protocolName?: string;
  level?: string;
  /** Connect Flags; `02` is Clean Start alone. */
  flags?: string;
  keepAlive?: string;
  /** With its length; the empty string leaves even the length out, as MQTT 3.1.1 does. */
  properties?: string;
  payload?: string;
}

/** A CONNECT of MQTT 5.0 with the given parts replaced. */
export function connectBytes(parts: ConnectParts = {}): string {
  return control(
    '10',
    parts.protocolName ?? text('MQTT'),
    parts.level ?? '05',
    parts.flags ?? '02',
    parts.keepAlive ?? '0000',
    parts.properties ?? '00',
    parts.payload ?? text('a'),
  );
}

/** A CONNECT of MQTT 3.1.1 with the given parts replaced. */
export function connect311Bytes(parts: ConnectParts = {}): string {
  return connectBytes({ level: '04', properties: '', ...parts });
}

function byteCount(hex: string): number {
  return hex.replaceAll(/\s/g, '').length / 2;
}

function variableByteInteger(value: number): string {
  if (value < 128) return value.toString(16).padStart(2, '0');
  return ((value & 0x7f) | 0x80).toString(16).padStart(2, '0') + variableByteInteger(value >> 7);
}
