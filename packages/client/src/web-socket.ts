import { globals } from './environment.ts';

/** As much of a WebSocket as the transport uses; the browsers', Node.js's and `ws`'s are all of this shape. */
export interface WebSocketLike {
  readonly protocol: string;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** `ws` has it: ends the socket without a closing handshake. */
  terminate?(): void;
  // An argument that takes `never` accepts every way in which the classes declare their events.
  addEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: never) => void): void;
}

/** The third argument is for `ws` (TLS and such); the others ignore it. */
export type WebSocketClass = new (url: string, protocols: string[], options?: object) => WebSocketLike;

/** The class of this platform. */
export async function loadWebSocket(): Promise<WebSocketClass> {
  if (globals.WebSocket !== undefined) return globals.WebSocket as WebSocketClass;
  // Not a literal, so that no bundler looks for `ws` on behalf of browsers.
  const name = 'ws';
  const module = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
    WebSocket: WebSocketClass;
  };
  return module.WebSocket;
}

/** The URL with the token in its query, encoded. */
export function withToken(url: string, parameter: string, token: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set(parameter, token);
  return parsed.href;
}
