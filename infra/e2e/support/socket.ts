import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { deployed } from './deployed.ts';

/** How a handshake ended: with an open socket, or with an HTTP status. */
export type Handshake = { readonly socket: WebSocket } | { readonly status: number | undefined };

/** A bare WebSocket, as a program without the transport opens it. */
export async function openSocket(token: string | undefined, subprotocols: string[]): Promise<Handshake> {
  const url = new URL(deployed.url);
  if (token !== undefined) url.searchParams.set('token', token);
  const socket = new WebSocket(url, subprotocols);
  onTestFinished(() => socket.terminate());
  const refused = once(socket, 'unexpected-response').then(([, response]) => ({
    status: response.statusCode,
  }));
  const opened = once(socket, 'open').then(() => ({ socket }));
  // A later error rejects the promise that did not resolve, and no code waits for it any more.
  refused.catch(() => {});
  opened.catch(() => {});
  return await Promise.race([refused, opened]);
}

/** The code with which the other side closes. */
export async function closeCodeOf(socket: WebSocket): Promise<number> {
  const [code] = await once(socket, 'close');
  return code;
}
