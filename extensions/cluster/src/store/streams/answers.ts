import type { StreamEntry } from '@apus/broker';
import { messageCodec } from '@apus/store-disk';

/** A message as a script returns it: number, time, message, and key if it has one. */
export type Found = readonly [Buffer, Buffer, Buffer, (Buffer | undefined)?];

export function entryOf(epoch: string, [number, ts, message, key]: Found): StreamEntry {
  return {
    epoch,
    number: Number(number.toString()),
    tsMs: Number(ts.toString()),
    key: key?.toString(),
    message: messageCodec.decode(message),
  };
}

export function textsOf(answer: unknown): string[] {
  return (answer as Buffer[]).map((each) => each.toString());
}

/** The error means that the engine's memory is full; any other error is thrown. */
export function unlessFull(error: unknown): 'full' {
  if (error instanceof Error && error.message.startsWith('OOM')) return 'full';
  throw error;
}
