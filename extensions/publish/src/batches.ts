/** The limits of one request to the endpoint. */
const MESSAGES_MAX = 100;
/** Below the 4 MiB that the endpoint reads, with room for commas and brackets. */
const BYTES_MAX = 4_000_000;

/**
 * Packs the messages, in their order, into as few requests as possible. The endpoint refuses a message that is too
 * large alone.
 */
export function* batchesOf<T>(
  messages: readonly T[],
  bytesOf: (message: T) => number,
): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const message of messages) {
    const length = bytesOf(message);
    if (batch.length === MESSAGES_MAX || (batch.length > 0 && bytes + length > BYTES_MAX)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}
