import type { Door, Trouble } from '../types.ts';
import type { HostEnvironment } from './environment.ts';
import { trouble } from './troubles.ts';

/** The subprotocols of the two doors: MQTT over WebSocket, and text frames (docs/text-frames.md). */
const SUBPROTOCOLS = { node: 'mqtt', gateway: 'mqtt-text-v1' } as const;

/** The host name of every API of API Gateway without a custom domain. */
const GATEWAY_HOST = /\.execute-api\.[a-z0-9-]+\.amazonaws\.com$/;

const PROBE_TIMEOUT_MS = 10_000;

/** The error in a URL, checked before the constructor of a WebSocket would throw. */
export function troubleOfUrl(url: string, atMs: number): Trouble | undefined {
  if (!URL.canParse(url)) return trouble('url', atMs, undefined, url);
  const { protocol, hash } = new URL(url);
  return (protocol === 'ws:' || protocol === 'wss:') && hash === ''
    ? undefined
    : trouble('url', atMs, undefined, url);
}

/** The door that the URL alone reveals. */
export function doorOfUrl(url: string): Door | undefined {
  return GATEWAY_HOST.test(new URL(url).hostname) ? 'gateway' : undefined;
}

/** The URL with the token in its query. */
export function withToken(url: string, parameter: string, token: string | undefined): string {
  if (token === undefined || token === '') return url;
  const parsed = new URL(url);
  parsed.searchParams.set(parameter, token);
  return parsed.href;
}

/** Offers both subprotocols in one handshake; the selected one reveals the door. */
export function detectDoor(url: string, environment: HostEnvironment): Promise<Door | Trouble> {
  return new Promise((resolve) => {
    const socket = open(url, environment);
    if (!('close' in socket)) {
      resolve(socket);
      return;
    }
    const finish = (answer: Door | Trouble): void => {
      cancel();
      resolve(answer);
      socket.close();
    };
    const cancel = environment.later(
      () => finish(trouble('connect-timeout', environment.now())),
      PROBE_TIMEOUT_MS,
    );
    socket.addEventListener('open', () => {
      const { protocol } = socket;
      if (protocol === SUBPROTOCOLS.node) finish('node');
      else if (protocol === SUBPROTOCOLS.gateway) finish('gateway');
      else finish(trouble('no-door', environment.now(), undefined, protocol));
    });
    // A browser gives no reason with `error`; `close` follows it.
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', ({ code, reason }) => {
      finish(trouble('closed', environment.now(), code, String(reason)));
    });
  });
}

function open(
  url: string,
  environment: HostEnvironment,
): ReturnType<HostEnvironment['openSocket']> | Trouble {
  try {
    return environment.openSocket(url, [SUBPROTOCOLS.node, SUBPROTOCOLS.gateway]);
  } catch (error) {
    const isMixed = error instanceof Error && error.name === 'SecurityError';
    return trouble(isMixed ? 'mixed-content' : 'url', environment.now(), undefined, String(error));
  }
}
