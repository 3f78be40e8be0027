import { createHash } from 'node:crypto';
import type { MessageAttributes } from './message.ts';

export function md5OfBody(body: string): string {
  return createHash('md5').update(body, 'utf8').digest('hex');
}

const STRING_VALUE = 1;
const BINARY_VALUE = 2;

/**
 * As the developer guide has it ("Calculating the MD5 message digest for message attributes"): sorted by name; each
 * name, data type and value with its length before it, and one byte that tells text from bytes. `undefined` for none.
 */
export function md5OfAttributes(attributes: MessageAttributes): string | undefined {
  const entries = Object.entries(attributes);
  if (entries.length === 0) return undefined;
  const hash = createHash('md5');
  const add = (bytes: Buffer): void => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, { DataType, StringValue, BinaryValue }] of entries) {
    add(Buffer.from(name));
    add(Buffer.from(DataType));
    hash.update(Buffer.of(BinaryValue === undefined ? STRING_VALUE : BINARY_VALUE));
    add(BinaryValue === undefined ? Buffer.from(StringValue ?? '') : Buffer.from(BinaryValue, 'base64'));
  }
  return hash.digest('hex');
}
