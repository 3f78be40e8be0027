import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { ManagementError, verifySignature } from '@apus/emulator/testing';
import { onTestFinished } from 'vitest';

const TOKEN = 'X-Amz-Security-Token';
const NO_BODY = createHash('sha256').digest('hex');
const SKEW_MS = 300_000;

export interface SignedStandIn {
  readonly port: number;
  /** Why handshakes were refused, in their order. */
  readonly refused: string[];
  /** The addresses whose handshakes it accepted. */
  readonly accepted: string[];
  /** Ends all connections. */
  cut(): void;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/**
 * The WebSocket door of AWS IoT Core, before an MQTT broker of this machine. It checks the Signature Version 4 of each
 * handshake, which covers the whole query except the session token, and passes on the bytes that follow.
 */
export async function startSignedStandIn(
  certificates: string,
  brokerPort: number,
  credentials: Credentials,
): Promise<SignedStandIn> {
  const file = (name: string) => readFileSync(join(certificates, name));
  const [refused, accepted]: [string[], string[]] = [[], []];
  const sockets = new Set<Socket>();
  const server = createServer({ key: file('server.key'), cert: file('server.pem') });
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    const problem = problemOf(request, credentials);
    if (problem !== undefined) {
      refused.push(problem);
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    accepted.push(request.url ?? '');
    const broker = connect(brokerPort, '127.0.0.1').on('error', () => socket.destroy());
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    broker.write(`GET /mqtt HTTP/1.1\r\n${headers.join('')}\r\n`);
    socket.pipe(broker).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, refused, accepted, cut };
}

function problemOf({ url = '', headers }: IncomingMessage, credentials: Credentials): string | undefined {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  if (path !== '/mqtt') return `the path ${path}`;
  if (parameters.get(TOKEN) !== credentials.sessionToken) return 'another session token';
  parameters.delete(TOKEN);
  const request = { method: 'GET', target: `${path}?${parameters}`, headers, bodyHash: NO_BODY };
  const { accessKeyId, secretAccessKey } = credentials;
  const verified = verifySignature(request, {
    principals: {
      find: (id) => (id === accessKeyId ? { credentials: { accessKeyId, secretAccessKey } } : undefined),
    },
    ...{
      region: 'eu-west-1',
      service: 'iotdevicegateway',
      nowMs: Date.now(),
      skewMs: SKEW_MS,
      allowsQuery: true,
    },
  });
  return verified instanceof ManagementError ? verified.message : undefined;
}
