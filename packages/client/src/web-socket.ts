import { globals } from './environment.ts';

/** The members that all WebSockets have: a browser's, Node.js's, and the one of the package `ws`. */
export interface WebSocketLike {
  readonly protocol: string;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** Any class of such sockets. (Their constructors and events are declared in ways that no one type covers.) */
export type WebSocketClass = new (...args: never[]) => WebSocketLike;

/** Such a socket as the transport uses it. */
export interface GatewaySocket extends WebSocketLike {
  /** `ws` has it: ends the socket without a closing handshake. */
  terminate?(): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly error?: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** The third argument is for `ws` (TLS and such); the others ignore it. */
type GatewaySocketClass = new (url: string, protocols: string[], options?: object) => GatewaySocket;

export function newSocket(
  WebSocket: WebSocketClass,
  url: string,
  protocols: string[],
  options?: object,
): GatewaySocket {
  return new (WebSocket as unknown as GatewaySocketClass)(url, protocols, options);
}

/** The class of this platform. */
export async function loadWebSocket(): Promise<WebSocketClass> {
  if (globals.WebSocket !== undefined) return globals.WebSocket;
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
