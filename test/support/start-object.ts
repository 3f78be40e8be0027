import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rulesAuthorizer } from '@apus/broker';
import {
  asText,
  fromText,
  newFolder,
  type RemotePorts,
  startWorkerd,
  type Workerd,
} from '@apus/cloudflare/testing';
import type { IdentityConfiguration } from '@apus/identity';
import { Random } from '@apus/simulation';
import { type Door, isEvictedUnderTest } from './door.ts';
import type { DoorOptions } from './start-door.ts';

/** One `workerd` for all open doors of this process, and a server for the ports that are functions of the tests. */
interface Running {
  readonly workerd: Workerd;
  readonly server: Server;
}

/** Of the entrance `evicted`, where objects lose their memory at random while the tests run. */
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);

/** The longest time between two of them, in ms. */
const AWAKE_MS = 300;

/** Attempts to reset an object. The others let it sleep, which its sockets outlive. */
const RESETS_SHARE = 1 / 3;

/** How often objects of this process have lost their memory: with their sockets kept, or by a reset. */
export const evictions = { hibernated: 0, reset: 0 };

/** Its storage, for a door that is opened again. */
let folder: string | undefined;

const doors = new Map<string, DoorOptions>();
let running: Promise<Running> | undefined;
let openDoors = 0;

/** A hub of its own, in a `workerd` that all doors of this process share. */
export async function openObjectDoor(options: DoorOptions): Promise<Door> {
  openDoors += 1;
  const name = nameOf(options);
  doors.set(name, options);
  const isEvicted = isEvictedUnderTest;
  running ??= start();
  const { workerd } = await running;
  const base = `127.0.0.1:${workerd.port}/${name}`;
  const { identity, ...others } = options;
  const { given: configuration } = (identity ?? {}) as Partial<IdentityConfiguration>;
  const given = {
    options: { ...others, ...(isEvicted && { quietMs: 2 }), files: filesIn(configuration) },
    identity: configuration,
  };
  const body = JSON.stringify({ ...given, remote: remoteOf(name, options) }, asText);
  await fetch(`http://${base}/options`, { method: 'POST', body });
  const api = await openApi(`http://${base}`);
  const endEvictions = isEvicted ? evictAtRandom(`http://${base}`) : undefined;
  return {
    name: 'object',
    url: `ws://${base}/mqtt`,
    httpUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    async stop() {
      api.closeAllConnections();
      api.close();
      await endEvictions?.();
      await close(name, `http://${base}`);
    },
  };
}

/** Passes requests of the HTTP API on to one hub, whose path is below that of its name: a test asks at the root. */
async function openApi(base: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { 'content-type': type = '', 'apus-tenant': tenant = 'default' } = request.headers;
    const answer = await fetch(`${base}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { 'content-type': type, 'apus-tenant': String(tenant) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The text of each file that a configuration names. */
function filesIn(configuration: unknown): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  JSON.stringify(configuration, (key, value: unknown) => {
    if (/file$/i.test(key) && typeof value === 'string') files[value] = readFileSync(value, 'utf8');
    return value;
  });
  return files;
}

/** The same directory is the same object. */
function nameOf({ dataDirectory }: DoorOptions): string {
  if (dataDirectory === undefined) return randomUUID();
  return createHash('sha256').update(dataDirectory).digest('hex');
}

async function close(name: string, url: string): Promise<void> {
  await fetch(`${url}/evict/close`);
  doors.delete(name);
  openDoors -= 1;
  if (openDoors > 0 || running === undefined) return;
  const ended = running;
  running = undefined;
  const { workerd, server } = await ended;
  await workerd.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function start(): Promise<Running> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder ??= newFolder();
  const workerd = await startWorkerd((server.address() as AddressInfo).port, folder);
  return { workerd, server };
}

/**
 * Takes the memory of an object again and again: it sleeps, or it is reset while it has no socket. A reset ends sockets,
 * and a test needs its own; `packages/cloudflare/test/kill.test.ts` has clients that come back. Returns how to end it.
 */
function evictAtRandom(url: string): () => Promise<void> {
  const random = new Random(SEED);
  let isOver = false;
  const evicting = (async () => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, random.next() * AWAKE_MS));
      if (isOver) return;
      const triesReset = random.next() < RESETS_SHARE;
      if (triesReset && (await (await fetch(`${url}/reset`)).text()) === 'reset') evictions.reset += 1;
      else if ((await fetch(`${url}/evict/hibernate`)).ok) evictions.hibernated += 1;
    }
  })();
  return async () => {
    isOver = true;
    await evicting;
  };
}

function remoteOf(door: string, options: DoorOptions): RemotePorts {
  const { authenticator, authorizer, authenticationMethods = [], logSink, logLevel = 'error' } = options;
  const kind = authorizer === undefined ? 'none' : authorizer === rulesAuthorizer ? 'rules' : 'remote';
  return {
    ...{ door, authenticator: authenticator !== undefined, authorizer: kind },
    methods: authenticationMethods.map(({ name }) => name),
    logLevel: logSink === undefined ? undefined : logLevel,
  };
}

/** Answers a port of a hub by the function of the test. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, door = '', port = '', method = ''] = (request.url ?? '').split('/');
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const values = fromText(Buffer.concat(chunks).toString()) as unknown[];
    const value = await portOf(doors.get(door) ?? {}, port, decodeURIComponent(method))(...values);
    response.end(JSON.stringify(value, asText));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

function portOf(options: DoorOptions, port: string, method: string): (...values: unknown[]) => unknown {
  const { authenticator, authorizer, authenticationMethods = [], logSink } = options;
  const named = authenticationMethods.find(({ name }) => name === method);
  const owners: readonly unknown[] = [authenticator, authorizer, named, { log: logSink }];
  for (const owner of owners) {
    const found = (owner as Partial<Record<string, (...values: unknown[]) => unknown>> | undefined)?.[port];
    if (found !== undefined) return found.bind(owner);
  }
  throw new Error(`the test has no ${port}`);
}
