import { globals } from './environment.ts';

/** The members that all WebSocket classes share: those of browsers, Node.js and the package `ws`. */
export interface WebSocketLike {
  readonly protocol: string;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** Any class of such sockets. (Their constructors and events are declared in ways that no one type covers.) */
export type WebSocketClass = new (...args: never[]) => WebSocketLike;

/** The members that the transport uses. */
export interface GatewaySocket extends WebSocketLike {
  binaryType: string;
  /** Only `ws` has it: ends the socket without a closing handshake. */
  terminate?(): void;
  /** Only `ws` has these: the server waits meanwhile. */
  pause?(): void;
  resume?(): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly error?: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** The third argument is for `ws` (e.g. TLS options); the others ignore it. */
type GatewaySocketClass = new (url: string, protocols: string[], options?: object) => GatewaySocket;

export function newSocket(
  WebSocket: WebSocketClass,
  url: string,
  protocols: string[],
  options?: object,
): GatewaySocket {
  const socket = new (WebSocket as unknown as GatewaySocketClass)(url, protocols, options);
  socket.binaryType = 'arraybuffer';
  return socket;
}

/** The WebSocket class of this platform. */
export async function loadWebSocket(): Promise<WebSocketClass> {
  if (globals.WebSocket !== undefined) return globals.WebSocket;
  // The name is no literal, so that no bundler adds `ws` to a browser's bundle.
  const name = 'ws';
  const module = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
    WebSocket: WebSocketClass;
  };
  return module.WebSocket;
}

/** The URL with the token in its query, encoded; without one, the URL as it is. */
export function withToken(url: string, parameter: string, token: string | undefined): string {
  if (token === undefined) return url;
  const parsed = new URL(url);
  parsed.searchParams.set(parameter, token);
  return parsed.href;
}

/** A closing handshake would only keep timers running: no code waits for its end. */
export function abandon(webSocket: GatewaySocket | undefined, code: number, reason: string): void {
  if (webSocket?.terminate === undefined) webSocket?.close(code, reason);
  else webSocket.terminate();
}
