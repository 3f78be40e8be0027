import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface ManagementBody {
  /** Absent when there is more than the limit: then only its hash was kept. */
  readonly bytes: Buffer | undefined;
  /** SHA-256 of all of it, in hexadecimal. */
  readonly hash: string;
}

/** Reads a request to its end, but keeps no more of it than a message may have. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<ManagementBody> {
  const hash = createHash('sha256');
  let chunks: Buffer[] | undefined = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    hash.update(bytes);
    length += bytes.length;
    if (length > bytesMax) chunks = undefined;
    chunks?.push(bytes);
  }
  return { bytes: chunks && Buffer.concat(chunks), hash: hash.digest('hex') };
}
