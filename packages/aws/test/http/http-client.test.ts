import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { needsOpenssl } from '../../../../test/support/openssl-or-skip.ts';
import { HttpClient } from '../../src/http/client.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** It makes the certificate. Not every machine has it; CI must run these tests. */
/** For `localhost`, and trusted by no client. */
function selfSigned(): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'apus-tls-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...request.split(' '), ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return made;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** The time limit of a request. It only guards against a hang, but for the tests of time limits. */
const TIMEOUT_MS = 15_000;
const REQUEST = 'GET / HTTP/1.1\r\n\r\n';

interface Setup {
  readonly client: HttpClient;
  /** Sockets that the server has seen. */
  readonly sockets: Socket[];
  readonly clock: { nowMs: number };
}

/** A server that does with each request what the test says, and a client of it. */
async function setUp(
  answer: (socket: Socket, requests: number, request: string) => void,
  options: { socketsMax?: number } = {},
): Promise<Setup> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      requests += 1;
      answer(socket, requests, String(chunk));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = { nowMs: 1_000_000 };
  const { socketsMax = 4 } = options;
  const client = new HttpClient({
    tls: undefined,
    hostname: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    timeoutMs: TIMEOUT_MS,
    clock: { now: () => clock.nowMs },
    socketsMax,
    idleMsMax: 10_000,
  });
  cleanups.push(
    () => server.close(),
    () => {
      for (const socket of sockets) socket.destroy();
    },
    () => client.close(),
  );
  return { client, sockets, clock };
}

const statusOf = async (outcome: ReturnType<HttpClient['send']>): Promise<unknown> => {
  const answer = await outcome;
  return typeof answer === 'string' ? answer : answer.status;
};

describe('requests', () => {
  it('go over one socket, one after another', async () => {
    const { client, sockets } = await setUp((socket) => socket.write(OK));
    for (let count = 0; count < 5; count += 1) expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(sockets).toHaveLength(1);
  });

  it('use a bounded number of sockets, and wait their turn for a free one', async () => {
    const held: Socket[] = [];
    const seen: string[] = [];
    const { client, sockets } = await setUp(
      (socket, _requests, request) => {
        seen.push(request.slice(5, 6));
        held.push(socket);
      },
      { socketsMax: 2 },
    );
    const outcomes = ['a', 'b', 'c', 'd'].map((name) =>
      statusOf(client.send(`GET /${name} HTTP/1.1\r\n\r\n`)),
    );
    while (held.length < 2) await new Promise(setImmediate);
    expect(sockets).toHaveLength(2);
    while (seen.length < 4) {
      held.shift()?.write(OK);
      await new Promise(setImmediate);
    }
    for (const socket of held) socket.write(OK);
    expect(await Promise.all(outcomes)).toEqual([200, 200, 200, 200]);
    expect(seen.slice(2)).toEqual(['c', 'd']);
    expect(sockets).toHaveLength(2);
  });

  it('open another socket where the server closes the last', async () => {
    const { client, sockets } = await setUp((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
    );
    expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  it('use no socket that was idle for long: it may be stale', async () => {
    const { client, sockets, clock } = await setUp((socket) => socket.write(OK));
    await client.send(REQUEST);
    clock.nowMs += 10_000;
    await client.send(REQUEST);
    expect(sockets).toHaveLength(1);
    clock.nowMs += 10_001;
    await client.send(REQUEST);
    expect(sockets).toHaveLength(2);
  });

  it('use no socket that the server has closed meanwhile', async () => {
    const { client, sockets } = await setUp((socket) => socket.write(OK));
    await client.send(REQUEST);
    sockets[0]?.end();
    while (sockets[0]?.destroyed === false) await new Promise(setImmediate);
    expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  it('are read for any split of the answer into chunks', async () => {
    const { client } = await setUp((socket) => {
      const bytes = [...OK];
      const next = () => {
        const byte = bytes.shift();
        if (byte !== undefined) socket.write(byte, () => setImmediate(next));
      };
      next();
    });
    expect(await statusOf(client.send(REQUEST))).toBe(200);
  });
});

describe('a request', () => {
  it('without an answer is of unknown fate: the server closed', async () => {
    const { client, sockets } = await setUp((socket, requests) => {
      if (requests === 1) socket.write(OK);
      else socket.destroy();
    });
    await client.send(REQUEST);
    expect(await statusOf(client.send(REQUEST))).toBe('unanswered');
    expect(sockets).toHaveLength(1);
  });

  it('without an answer is of unknown fate: the time is out; and its late answer goes to no other request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => void vi.useRealTimers());
    let arrived = () => {};
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { client, sockets } = await setUp((socket, requests) => {
      if (requests > 1) socket.write(OK);
      else arrived();
    });
    const outcome = statusOf(client.send(REQUEST));
    await hasArrived;
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(await outcome).toBe('unanswered');
    sockets[0]?.write(OK);
    expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  it('whose answer is no HTTP is of unknown fate, and the socket is not used again', async () => {
    const { client, sockets } = await setUp((socket, requests) =>
      socket.write(requests === 1 ? 'hello\r\n\r\n' : OK),
    );
    expect(await statusOf(client.send(REQUEST))).toBe('unanswered');
    expect(await statusOf(client.send(REQUEST))).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  it('that finds no server has not been sent', async () => {
    const { client, sockets } = await setUp(() => {});
    expect(sockets).toHaveLength(0);
    for (const cleanup of cleanups.splice(0, 1)) cleanup();
    expect(await statusOf(client.send(REQUEST))).toBe('unsent');
  });

  it('under way when the client is closed is of unknown fate', async () => {
    let arrived = () => {};
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { client } = await setUp(() => arrived());
    const outcome = statusOf(client.send(REQUEST));
    await hasArrived;
    client.close();
    expect(await outcome).toBe('unanswered');
  });
});

describe('TLS', () => {
  it('is spoken with the server that the certificate names, and with no other', needsOpenssl(), async () => {
    const { key, cert } = selfSigned();
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(OK));
    });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const clientOf = (hostname: string, ca: string | undefined) => {
      const client = new HttpClient({
        tls: { secureContext: createSecureContext(ca === undefined ? {} : { ca }) },
        hostname,
        port: (server.address() as AddressInfo).port,
        timeoutMs: TIMEOUT_MS,
        clock: { now: () => 0 },
        socketsMax: 1,
        idleMsMax: 10_000,
      });
      cleanups.push(() => client.close());
      return client;
    };
    cleanups.push(() => server.close());
    const known = clientOf('localhost', cert);
    expect(await statusOf(known.send(REQUEST))).toBe(200);
    expect(await statusOf(known.send(REQUEST))).toBe(200);
    expect(await statusOf(clientOf('localhost', undefined).send(REQUEST))).toBe('unsent');
    expect(await statusOf(clientOf('127.0.0.1', cert).send(REQUEST))).toBe('unsent');
  });
});
