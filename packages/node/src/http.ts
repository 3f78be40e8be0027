import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { MQTT_PATH, pathOf } from './handshake.ts';
import type { Encoding, Page, PageFile } from './page.ts';
import type { PageConfig } from './page-config.ts';

/** The answer of `/healthz`. */
export interface Health {
  readonly status: 'ok' | 'stopping';
  readonly connections: number;
  readonly uptimeSeconds: number;
}

/** Scripts come from here alone. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The component kit and the editor write style sheets into the page; scripts cannot come in that way.
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  // The page may talk to any broker: its address is a field on it.
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Seconds that a browser keeps what never changes: a year. */
const IMMUTABLE_SECONDS = 31_536_000;

const SECURITY_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** The plain HTTP of the door: the page, and the health of the broker. */
export function createHttpHandler(page: Page, config: PageConfig, health: () => Health): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      answerText(response, 405, 'Only GET and HEAD are answered here.');
      return;
    }
    answerGet(request, response, page, config, health);
  };
}

function answerGet(
  request: IncomingMessage,
  response: ServerResponse,
  page: Page,
  config: PageConfig,
  health: () => Health,
): void {
  const path = pathOf(request);
  if (path === '/healthz') {
    answerHealth(response, health());
    return;
  }
  if (path === '/config.json') {
    answerJson(response, config);
    return;
  }
  if (path === MQTT_PATH) {
    response.setHeader('Upgrade', 'websocket');
    answerText(response, 426, 'This is MQTT over WebSocket: connect with an MQTT client.');
    return;
  }
  const file = page.get(path);
  if (file !== undefined) answerFile(request, response, file);
  else if (page.get(`${path}/`) !== undefined) answerFolder(response, path);
  else answerText(response, 404, 'There is nothing here. The page is at /.');
}

/** Redirects to the folder, relative to it, like the addresses in a page: a proxy may have put a path before it. */
function answerFolder(response: ServerResponse, path: string): void {
  response.setHeader('Location', `${path.slice(path.lastIndexOf('/') + 1)}/`);
  answerText(response, 308, 'The page is at the same address with a "/" behind it.');
}

function answerHealth(response: ServerResponse, health: Health): void {
  response.statusCode = health.status === 'ok' ? 200 : 503;
  answerJson(response, health);
}

function answerJson(response: ServerResponse, value: object): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/json');
  response.end(`${JSON.stringify(value)}\n`);
}

function answerFile(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  response.setHeader(
    'Cache-Control',
    file.isImmutable ? `public, max-age=${IMMUTABLE_SECONDS}, immutable` : 'no-cache',
  );
  response.setHeader('ETag', file.etag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === file.etag) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', file.contentType);
  for (const [encoding, body] of file.compressed) {
    if (!accepts(request, encoding)) continue;
    response.setHeader('Content-Encoding', encoding);
    response.end(body);
    return;
  }
  response.end(file.body);
}

const ACCEPTED: Readonly<Record<Encoding, RegExp>> = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
};

function accepts(request: IncomingMessage, encoding: Encoding): boolean {
  return ACCEPTED[encoding].test(String(request.headers['accept-encoding'] ?? ''));
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
