import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { MQTT_PATH, pathOf } from './handshake.ts';
import type { Page, PageFile } from './page.ts';

/** What `/healthz` says. */
export interface Health {
  readonly status: 'ok' | 'stopping';
  readonly connections: number;
  readonly uptimeSeconds: number;
}

const SECURITY_HEADERS = {
  // The page may talk to any broker: its address is a field on it.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** The plain HTTP side of the door: the page, and whether the broker is well. */
export function createHttpHandler(page: Page, health: () => Health): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      answerText(response, 405, 'Only GET and HEAD are answered here.');
      return;
    }
    answerGet(request, response, page, health);
  };
}

function answerGet(
  request: IncomingMessage,
  response: ServerResponse,
  page: Page,
  health: () => Health,
): void {
  const path = pathOf(request);
  if (path === '/healthz') {
    answerHealth(response, health());
    return;
  }
  if (path === MQTT_PATH) {
    response.setHeader('Upgrade', 'websocket');
    answerText(response, 426, 'This is MQTT over WebSocket: connect with an MQTT client.');
    return;
  }
  const file = page.get(path);
  if (file === undefined) answerText(response, 404, 'There is nothing here. The page is at /.');
  else answerFile(request, response, file);
}

function answerHealth(response: ServerResponse, health: Health): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/json');
  response.statusCode = health.status === 'ok' ? 200 : 503;
  response.end(`${JSON.stringify(health)}\n`);
}

function answerFile(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('ETag', file.etag);
  if (request.headers['if-none-match'] === file.etag) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', file.contentType);
  response.end(file.body);
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
