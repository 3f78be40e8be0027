import type { RequestListener, ServerResponse } from 'node:http';
import type { GatewayDoor } from './gateway.ts';
import { pathOf } from './handshake.ts';
import type { PeerAddresses } from './peer-address.ts';

export const COUNTERS_PATH = '/counters';

/** The answer of `/counters`: what the gateway door would be billed, and what this process has used. */
export interface CountersAnswer {
  /** The gateway door, if it is open: its URL, and its counts since it started. */
  readonly gateway: { readonly url: string; readonly counters: object } | undefined;
  readonly process: {
    readonly pid: number;
    /** User and system time since it started. */
    readonly cpuMicroseconds: number;
    readonly residentBytes: number;
  };
}

export function countersAnswer(gateway: Pick<GatewayDoor, 'url' | 'counters'> | undefined): CountersAnswer {
  const { user, system } = process.cpuUsage();
  return {
    gateway: gateway && { url: gateway.url, counters: gateway.counters() },
    process: {
      pid: process.pid,
      cpuMicroseconds: user + system,
      residentBytes: process.memoryUsage.rss(),
    },
  };
}

/**
 * Answers `/counters` to programs of this machine and pages that it served, and passes all other requests to `handler`.
 */
export function withCounters(
  handler: RequestListener,
  answer: () => CountersAnswer,
  addresses: PeerAddresses,
): RequestListener {
  return (request, response) => {
    const isAsked = request.method === 'GET' && pathOf(request) === COUNTERS_PATH;
    if (isAsked && addresses.isLocalPage(request)) answerJson(response, answer());
    else handler(request, response);
  };
}

function answerJson(response: ServerResponse, answer: CountersAnswer): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.end(`${JSON.stringify(answer)}\n`);
}
