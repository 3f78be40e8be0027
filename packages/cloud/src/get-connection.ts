import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** What the gateway knows of a connection. */
export type ConnectionStatus =
  /** When a message last went either way, in milliseconds since the epoch, by the gateway's clock. */
  | { readonly lastActiveAtMs: number }
  /** 410. */
  | 'gone'
  /** It did not say: the account is throttled, or the gateway fails. */
  | 'unknown';

/** GetConnection is asked once in minutes: what takes longer than this is asked again later. */
const TIMEOUT_MS = 2_000;

/**
 * Asks the gateway about one connection, once. Not by way of the client that posts: that one reads no bodies, and is
 * for what is frequent. `headers` sign the request. Never rejects.
 */
export async function getConnection(
  url: URL,
  headers: string,
  ca: string | undefined,
): Promise<ConnectionStatus> {
  try {
    const { status, body } = await get(url, headers, ca);
    if (status === 410) return 'gone';
    return status === 200 ? activityOf(body) : 'unknown';
  } catch {
    return 'unknown';
  }
}

function get(
  url: URL,
  headers: string,
  ca: string | undefined,
): Promise<{ readonly status: number; readonly body: string }> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const options = { headers: fieldsOf(headers), agent: false, timeout: TIMEOUT_MS, ca };
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    request.once('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.once('error', reject);
    request.end();
  });
}

function fieldsOf(lines: string): Record<string, string> {
  const fields = lines.split('\r\n').filter((line) => line !== '');
  return Object.fromEntries(
    fields.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }),
  );
}

/** Times are text: `{"connectedAt":"2026-08-01T12:00:00.000Z","lastActiveAt":…}`. */
function activityOf(body: string): ConnectionStatus {
  const answer: unknown = JSON.parse(body);
  if (typeof answer !== 'object' || answer === null || !('lastActiveAt' in answer)) return 'unknown';
  const lastActiveAtMs = Date.parse(String(answer.lastActiveAt));
  return Number.isNaN(lastActiveAtMs) ? 'unknown' : { lastActiveAtMs };
}
