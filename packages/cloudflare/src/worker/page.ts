import { API_PATH } from '@apus/api';
import { DEFAULT_LIMITS } from '@apus/broker';
import { MQTT_PATH } from '../handshake.ts';
import type { HubStub } from './front.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** A file of the web client, or its `config.json`. Any other path is answered with 404. */
export async function answerPage(request: Request, files: HubStub | undefined): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (files === undefined) return notFound();
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return new Response('A page is read with GET.\n', { status: 405, headers: { Allow: 'GET, HEAD' } });
  if (pathname === '/config.json') return Response.json(CONFIG, { headers: { 'Cache-Control': 'no-store' } });
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
  const type = CONTENT_TYPES[/\.(\w+)$/.exec(path)?.[1] ?? ''];
  if (type === undefined) return notFound();
  const found = await files.fetch(new Request(`http://page${path}`, { method: request.method }));
  if (!found.ok) return notFound();
  const headers = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' };
  return new Response(found.body, { headers });
}

/** The page speaks to this door as to that of a node. */
const CONFIG = {
  endpoints: [{ door: 'node', path: MQTT_PATH, maximumPacketSizeBytes: DEFAULT_LIMITS.maximumPacketSize }],
  api: { path: API_PATH, access: 'key' },
};

function notFound(): Response {
  return new Response(`MQTT over WebSocket is at ${MQTT_PATH}.\n`, { status: 404 });
}
