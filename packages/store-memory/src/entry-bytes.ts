import { messageBytes, type StreamEntry } from '@apus/broker';

/** Memory that an entry of a stream takes beside the bytes of its message; rounded up. */
export const ENTRY_BYTES = 1024;

export function bytesOf({ message }: StreamEntry): number {
  return messageBytes(message) + ENTRY_BYTES;
}
