import type { Random } from './clock/random.ts';

/** Eleven bytes in base64url with its padding, as AWS writes connection, message and request ids: `L0SM9cOFvHcCIhw=`. */
export function gatewayId(random: Random): string {
  return `${random.bytes(11).toString('base64url')}=`;
}

const GATEWAY_ID = /^[A-Za-z0-9_-]{15}=$/;

export function isGatewayId(text: string): boolean {
  return GATEWAY_ID.test(text);
}

/** A version 4 UUID, as Lambda's request ids. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** `prefix` and 16 characters, as IAM writes the keys of temporary credentials: `ASIA…`. */
export function accessKeyId(random: Random): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return `ASIA${Array.from(random.bytes(16), (byte) => alphabet.charAt(byte % alphabet.length)).join('')}`;
}
