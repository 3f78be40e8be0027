import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { EmulatorLimits } from '../limits.ts';

export interface ManagementBody {
  /** Absent when there is more than the limit: then only its hash was kept. */
  readonly bytes: Buffer | undefined;
  /** SHA-256 of all of it, in hexadecimal. */
  readonly hash: string;
}

/** Reads a request to its end, but keeps no more of it than a message may have. Throws for an excessive body. */
export async function readBody(
  request: IncomingMessage,
  limits: Pick<EmulatorLimits, 'messageBytesMax' | 'requestBytesMax'>,
): Promise<ManagementBody> {
  const hash = createHash('sha256');
  let chunks: Buffer[] | undefined = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    hash.update(bytes);
    length += bytes.length;
    if (length > limits.requestBytesMax)
      throw new Error(`A request of more than ${limits.requestBytesMax} bytes`);
    if (length > limits.messageBytesMax) chunks = undefined;
    chunks?.push(bytes);
  }
  return { bytes: chunks && Buffer.concat(chunks), hash: hash.digest('hex') };
}
