import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { createDynamoDb, type Emulator, startEmulator } from '@apus/emulated-aws';
import { WebSocket } from 'ws';

/** The settings that the measuring process gets. */
export interface Endpoints {
  readonly http: string;
  readonly https: string;
  readonly ca: string;
  readonly dynamoDb: string;
  readonly region: string;
  readonly credentials: Emulator['credentials'];
  readonly connectionIds: readonly string[];
}

/** The messages and bytes that have arrived at the clients since the last question. */
export interface Arrived {
  readonly messages: number;
  readonly bytes: number;
}

const arrived = { messages: 0, bytes: 0 };

/** The API, its clients, and a DynamoDB: all in this process, none of it in the one that is measured. */
async function start(connections: number): Promise<void> {
  const ok = { statusCode: 200 };
  const emulator = await startEmulator({
    seed: 1,
    faults: { shuffle: 0 },
    // The bench measures the caller, so the gateway throttles no call.
    limits: {
      newConnectionsPerSecond: Number.POSITIVE_INFINITY,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      requestsBurst: Number.POSITIVE_INFINITY,
    },
    createEnvironment: () => ({
      connect: async () => ok,
      default: async () => ok,
      disconnect: async () => ok,
    }),
  });
  for (let index = 0; index < connections; index += 1) await openClient(emulator.url);
  const { pathname, port } = new URL(emulator.managementEndpoint);
  const { https, ca } = await startTls(Number(port));
  const endpoints: Endpoints = {
    http: emulator.managementEndpoint,
    https: `${https}${pathname}`,
    ca,
    dynamoDb: await startDynamoDb(),
    region: emulator.region,
    credentials: emulator.credentials,
    connectionIds: emulator.connectionIds(),
  };
  process.send?.(endpoints);
  process.on('message', () => {
    process.send?.({ ...arrived });
    arrived.messages = 0;
    arrived.bytes = 0;
  });
  // Its parent has ended.
  process.once('disconnect', () => process.exit());
}

async function openClient(url: string): Promise<void> {
  const socket = new WebSocket(url);
  socket.on('message', (data: Buffer) => {
    arrived.messages += 1;
    arrived.bytes += data.length;
  });
  await once(socket, 'open');
}

/** TLS in front of the API, with a self-signed certificate that only this bench trusts. */
async function startTls(apiPort: number): Promise<{ readonly https: string; readonly ca: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bench-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...request.split(' '), ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const ca = readFileSync(cert, 'utf8');
  const server = createTlsServer({ key: readFileSync(key), cert: ca }, (socket) => {
    const api = connect(apiPort, '127.0.0.1');
    api.setNoDelay(true);
    socket.setNoDelay(true);
    socket.pipe(api).pipe(socket);
    socket.on('error', () => api.destroy());
    api.on('error', () => socket.destroy());
  });
  rmSync(directory, { recursive: true });
  return { https: `https://localhost:${await listen(server)}`, ca };
}

async function startDynamoDb(): Promise<string> {
  const handler = createDynamoDb({ seed: 1 }).requestHandler();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { response: given } = await handler.handle({ headers, body: Buffer.concat(chunks) });
    response.writeHead(given.statusCode, given.headers).end(given.body);
  };
  const server = createHttpServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

await start(Number(process.argv[2]));
