import type { IncomingMessage } from 'node:http';

/** The body of a request. Bytes beyond the limit are not read: the length alone is refused. */
export async function bodyOf(http: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of http) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) break;
  }
  return Buffer.concat(chunks);
}
