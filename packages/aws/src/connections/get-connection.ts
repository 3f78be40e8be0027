import type { HttpOutcome } from '../http/socket.ts';

/** The gateway's answer to GetConnection. */
export type ConnectionStatus =
  /** When a message last went either way, in milliseconds since the epoch, by the gateway's clock. */
  | { readonly lastActiveAtMs: number }
  /** 410. */
  | 'gone'
  /** Unknown: the account is throttled, or the gateway fails. */
  | 'unknown';

/** The answer to GetConnection. */
export function connectionStatusOf(answer: HttpOutcome): ConnectionStatus {
  if (typeof answer === 'string') return 'unknown';
  if (answer.status === 410) return 'gone';
  return answer.status === 200 ? activityOf(answer.body) : 'unknown';
}

/** Times are text: `{"connectedAt":"2026-08-01T12:00:00.000Z","lastActiveAt":…}`. */
function activityOf(body: string): ConnectionStatus {
  const lastActiveAtMs = Date.parse(/"lastActiveAt"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '');
  return Number.isNaN(lastActiveAtMs) ? 'unknown' : { lastActiveAtMs };
}
