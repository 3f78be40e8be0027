import { AnswerTooLarge, type HookAnswer, type HookSender } from './hook-client.ts';

/** Sends requests with `fetch`, which keeps connections open between them. */
export function fetchSender(answerBytesMax: number, send: typeof fetch = fetch): HookSender {
  return {
    async send({ method, url, headers, body }, signal): Promise<HookAnswer> {
      // A redirect would carry the password to a server that the operator has not named [SEC-HOOK-4].
      const response = await send(url, { method, headers, body: body ?? null, signal, redirect: 'manual' });
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? '',
        body: await textOf(response, answerBytesMax),
      };
    },
  };
}

/** The body of an answer, read no further than it may be. @throws {AnswerTooLarge} */
export async function textOf(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new AnswerTooLarge(`the answer is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
