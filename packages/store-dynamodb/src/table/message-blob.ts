import type { Message } from '@apus/broker';
import { fromJson, toJson } from './values.ts';

const LENGTH_BYTES = 4;

/** JSON leaves out what is undefined. */
type StoredFields = Omit<Message, 'payload' | 'expiresAtMs' | 'publisherKey'> &
  Partial<Pick<Message, 'expiresAtMs' | 'publisherKey'>>;

/** A message in one piece: the length of its JSON, the JSON without the payload, the payload. */
export function encodeMessage(message: Message): Uint8Array {
  const { payload, ...fields } = message;
  const json = Buffer.from(toJson(fields));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, payload]);
}

/** Undefined: pieces are missing, as TTL deletes them one by one. */
export function decodeMessage(blob: Uint8Array): Message | undefined {
  const buffer = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  const end = buffer.length < LENGTH_BYTES ? 0 : LENGTH_BYTES + buffer.readUInt32BE();
  if (end === 0 || end > buffer.length) return undefined;
  const fields = fromJson(buffer.subarray(LENGTH_BYTES, end).toString()) as StoredFields;
  const { expiresAtMs, publisherKey } = fields;
  return { ...fields, expiresAtMs, publisherKey, payload: new Uint8Array(buffer.subarray(end)) };
}
