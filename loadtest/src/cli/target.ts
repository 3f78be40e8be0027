import { isIPv4 } from 'node:net';
import { WebSocket } from 'ws';
import { explainError, explainStatus } from '../generator/explain.ts';
import { isStreamUrl } from '../generator/stream-wire.ts';
import type { Door } from '../generator/wire.ts';
import { CommandError, UsageError } from './cli-error.ts';

const SCHEMES = ['ws:', 'wss:', 'tcp:', 'tls:'];

/** How long a broker may take to answer the first handshake. */
const PROBE_MS = 10_000;

export interface Target {
  readonly url: string;
  readonly door: Door;
  /** Whether it is on this machine. */
  readonly isLocal: boolean;
}

export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/**
 * Checks that the target may be loaded. A load on another owner's broker is an attack: another machine has to be named
 * twice.
 *
 * @throws {UsageError} for a URL of another scheme, and for a host that was not confirmed
 */
export function checkTarget(text: string | undefined, confirmed: string | undefined, load: string): URL {
  if (text === undefined)
    throw new UsageError('A load test needs a broker: --target ws://127.0.0.1:8083/mqtt');
  if (!URL.canParse(text))
    throw new UsageError(`--target takes a URL as ws://127.0.0.1:8083/mqtt, not "${text}".`);
  const url = new URL(text);
  if (!SCHEMES.includes(url.protocol))
    throw new UsageError(`--target takes a URL of ${SCHEMES.join(', ')}, not ${url.protocol}`);
  if (isLoopbackHost(url.hostname) || confirmed === url.hostname) return url;
  const wrong = confirmed === undefined ? '' : ` --confirm names another host, ${confirmed}.`;
  throw new UsageError(
    `${url.hostname} is not this machine.${wrong} The run would put ${load} on it: if it is yours to load, add --confirm ${url.hostname}`,
  );
}

/**
 * Connects once and learns from the chosen subprotocol which door it is. TCP and TLS lead to a node alone.
 *
 * @throws {CommandError} if no server answers, or another door than the requested one
 * @throws {UsageError} for the gateway door without WebSocket
 */
export async function findDoor(url: string, wanted: Door | undefined, token?: string): Promise<Door> {
  if (isStreamUrl(url)) {
    if (wanted === 'gateway') throw new UsageError('The gateway door takes WebSockets only.');
    return 'node';
  }
  const offered = wanted === undefined ? ['mqtt', 'mqtt-text-v1'] : [SUBPROTOCOLS[wanted]];
  const chosen = await knock(withToken(url, token), offered);
  return chosen === SUBPROTOCOLS.gateway ? 'gateway' : 'node';
}

const SUBPROTOCOLS = { node: 'mqtt', gateway: 'mqtt-text-v1' } as const;

function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url;
  const parsed = new URL(url);
  parsed.searchParams.set('token', token);
  return parsed.href;
}

function knock(url: string, subprotocols: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, [...subprotocols], {
      perMessageDeflate: false,
      handshakeTimeout: PROBE_MS,
    });
    const fail = (reason: string) =>
      reject(new CommandError(`${reason[0]?.toUpperCase()}${reason.slice(1)}.`));
    socket.on('open', () => {
      resolve(socket.protocol);
      socket.terminate();
    });
    socket.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        fail(explainStatus(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8', 0, 300).trim()));
        socket.terminate();
      });
    });
    socket.on('error', (error) => fail(explainError(error, url)));
  });
}
