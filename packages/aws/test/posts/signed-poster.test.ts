import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Emulator, type EmulatorOptions, type ManagementCall, startEmulator } from '@apus/emulated-aws';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { encodePath, encodeStrictly, RequestSigner } from '../../src/http/sigv4.ts';
import { type AwsCredentials, SignedPoster, type SignedPosterOptions } from '../../src/index.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Setup {
  readonly emulator: Emulator;
  readonly poster: SignedPoster;
  readonly connectionId: string;
  /** Texts that the client has received. */
  readonly received: string[];
  readonly socket: WebSocket;
  /** Waits between tries, in milliseconds. */
  readonly waits: number[];
  /** Names of what was counted. */
  readonly counted: string[];
}

/** An emulator with one client, and a poster that counts its waits and does not wait. */
async function setUp(faults: EmulatorOptions['faults'] = {}): Promise<Setup> {
  const ok = { statusCode: 200 };
  const emulator = await startEmulator({
    seed: 1,
    faults,
    createEnvironment: () => ({
      connect: async () => ok,
      default: async () => ok,
      disconnect: async () => ok,
    }),
  });
  cleanups.push(() => emulator.stop());
  const socket = new WebSocket(emulator.url);
  cleanups.push(() => socket.terminate());
  const received: string[] = [];
  socket.on('message', (data) => received.push(String(data)));
  await once(socket, 'open');
  const waits: number[] = [];
  const counted: string[] = [];
  const poster = posterFor(emulator, { meter: { add: (name) => void counted.push(name) } }, waits);
  const [connectionId = ''] = emulator.connectionIds();
  return { emulator, poster, connectionId, received, socket, waits, counted };
}

interface Target {
  readonly managementEndpoint: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
}

function posterFor(
  { managementEndpoint: endpoint, region, credentials }: Target,
  changes: Partial<Pick<SignedPosterOptions, 'credentials' | 'region' | 'meter' | 'log'>> = {},
  waits: number[] = [],
): SignedPoster {
  const poster = new SignedPoster({
    endpoint,
    region,
    credentials,
    clock: { now: Date.now },
    sleep: async (ms) => void waits.push(ms),
    ...changes,
  });
  cleanups.push(() => poster.close());
  return poster;
}

/** Fails the first `count` calls. */
function first(count: number): (call: ManagementCall) => boolean {
  let calls = 0;
  return () => ++calls <= count;
}

const posts = ({ emulator }: Setup, status: number): number =>
  emulator.counters.snapshot().managementCalls[`POST ${status}`] ?? 0;

describe('a post', () => {
  it('is signed so that the gateway takes it, with any characters', async () => {
    const setup = await setUp();
    for (const text of ['wAA=', 'ä€😀', 'x'.repeat(131_072)]) {
      expect(await setup.poster.post(setup.connectionId, text, true)).toBe('sent');
    }
    await setup.emulator.quiet();
    setup.socket.ping();
    await once(setup.socket, 'pong');
    expect(setup.received).toEqual(['wAA=', 'ä€😀', 'x'.repeat(131_072)]);
    expect(posts(setup, 403)).toBe(0);
  });

  it('arrives behind the one before it, however many there are', async () => {
    const setup = await setUp();
    const texts = Array.from({ length: 50 }, (_, index) => String(index));
    for (const text of texts) await setup.poster.post(setup.connectionId, text, true);
    setup.socket.ping();
    await once(setup.socket, 'pong');
    expect(setup.received).toEqual(texts);
  });

  it('fails and is not sent when it is signed with another secret, or for another Region', async () => {
    const setup = await setUp();
    const { emulator, connectionId } = setup;
    const wrong = { ...emulator.credentials, secretAccessKey: 'another' };
    expect(await posterFor(emulator, { credentials: wrong }).post(connectionId, 'x', false)).toBe('failed');
    expect(await posterFor(emulator, { region: 'eu-west-1' }).post(connectionId, 'x', false)).toBe('failed');
    expect(posts(setup, 403)).toBe(2);
    expect(setup.received).toEqual([]);
  });

  it('needs the session token of temporary credentials', async () => {
    const setup = await setUp();
    const { sessionToken: _, ...without } = setup.emulator.credentials;
    const poster = posterFor(setup.emulator, { credentials: without });
    expect(await poster.post(setup.connectionId, 'x', false)).toBe('failed');
  });

  it('to a connection that is gone is answered with that, and not tried again: 410', async () => {
    const setup = await setUp();
    setup.socket.close();
    await once(setup.socket, 'close');
    await setup.emulator.quiet();
    expect(await setup.poster.post(setup.connectionId, 'x', true)).toBe('gone');
    expect(posts(setup, 410)).toBe(1);
  });

  it('that is too large is not tried again: 413', async () => {
    const setup = await setUp();
    expect(await setup.poster.post(setup.connectionId, 'x'.repeat(131_073), true)).toBe('too-large');
    expect(posts(setup, 413)).toBe(1);
  });

  it.each([true, false])(
    'that is throttled is tried again, whether it may be repeated or not (%s): 429',
    async (mayRepeat) => {
      const setup = await setUp({ postThrottled: first(3) });
      expect(await setup.poster.post(setup.connectionId, 'x', mayRepeat)).toBe('sent');
      expect(posts(setup, 429)).toBe(3);
      expect(setup.counted).toEqual(Array(3).fill('PostsThrottled'));
      expect(setup.waits).toHaveLength(3);
    },
  );

  it('that fails is in the log with its status, as a close that fails is', async () => {
    const said: unknown[] = [];
    const log = { warn: (event: string, fields?: object) => void said.push([event, fields]) };
    const setup = await setUp({ callFails: first(1) });
    const poster = posterFor(setup.emulator, { log });
    const { connectionId } = setup;
    expect(await poster.post(connectionId, 'x', false)).toBe('failed');
    expect(said).toEqual([['gateway-call-failed', { method: 'POST', connectionId, status: 500 }]]);
    expect(await poster.post(connectionId, 'x', false)).toBe('sent');
    expect(await poster.delete(connectionId)).toBe(true);
    expect(await poster.delete(connectionId)).toBe(true);
    expect(said).toHaveLength(1);
  });

  it('that closes a connection says so where the gateway does not answer', async () => {
    const setup = await setUp({ callFails: 1 });
    expect(await setup.poster.delete(setup.connectionId)).toBe(false);
    expect(setup.waits).toEqual([25, 75, 200]);
  });

  it('that stays throttled is given up after a fraction of a second', async () => {
    const setup = await setUp({ postThrottled: 1 });
    expect(await setup.poster.post(setup.connectionId, 'x', true)).toBe('throttled');
    expect(setup.waits.reduce((sum, ms) => sum + ms)).toBeLessThan(1_000);
  });

  it('that fails is tried again when it may be repeated: 500', async () => {
    const setup = await setUp({ postFails: first(2) });
    expect(await setup.poster.post(setup.connectionId, 'x', true)).toBe('sent');
    expect(posts(setup, 500)).toBe(2);
  });

  it('that fails is tried once when it must not be doubled, and is not doubled: 500', async () => {
    const setup = await setUp({ postFailsAfterwards: first(1) });
    expect(await setup.poster.post(setup.connectionId, 'x', false)).toBe('failed');
    setup.socket.ping();
    await once(setup.socket, 'pong');
    expect(setup.received).toEqual(['x']);
  });

  it('without an answer is given up, and a connection that breaks is no exception', async () => {
    let calls = 0;
    const silent = await listen((request) => {
      calls += 1;
      request.socket.destroy();
    });
    const poster = posterFor({ ...silent, region: 'us-east-1', credentials: CREDENTIALS });
    expect(await poster.post('c', 'x', false)).toBe('failed');
    expect(await poster.post('c', 'x', true)).toBe('failed');
    expect(calls).toBe(5);
  });

  it('without an answer is given up after two seconds', async () => {
    const silent = await listen(() => {});
    const poster = posterFor({ ...silent, region: 'us-east-1', credentials: CREDENTIALS });
    expect(await poster.post('c', 'x', false)).toBe('failed');
  });

  it('goes over a socket that is kept open', async () => {
    const sockets = new Set<unknown>();
    const server = await listen((request, response) => {
      sockets.add(request.socket);
      request.resume();
      request.once('end', () => response.writeHead(200).end('{}'));
    });
    const poster = posterFor({ ...server, region: 'us-east-1', credentials: CREDENTIALS });
    for (let count = 0; count < 5; count += 1) expect(await poster.post('c', 'x', true)).toBe('sent');
    expect(sockets.size).toBe(1);
  });
});

describe('the end of a connection', () => {
  it('is asked for once, and closes it with 1000', async () => {
    const setup = await setUp();
    const closed = once(setup.socket, 'close');
    await setup.poster.delete(setup.connectionId);
    expect((await closed)[0]).toBe(1000);
  });

  it('is no error when the connection is gone', async () => {
    const setup = await setUp();
    await setup.poster.delete(setup.connectionId);
    await setup.poster.delete(setup.connectionId);
    expect(setup.emulator.counters.snapshot().managementCalls).toMatchObject({
      'DELETE 204': 1,
      'DELETE 410': 1,
    });
  });
});

describe('asking for a connection', () => {
  it('answers when a message last went either way', async () => {
    const setup = await setUp();
    const beforeMs = Date.now();
    await setup.poster.post(setup.connectionId, 'x', true);
    const status = await setup.poster.get(setup.connectionId);
    if (typeof status === 'string') throw new Error(`expected a time, got ${status}`);
    expect(status.lastActiveAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(status.lastActiveAtMs).toBeLessThanOrEqual(Date.now());
    expect(setup.waits).toEqual([]);
  });

  it('says that a connection is gone', async () => {
    const setup = await setUp();
    await setup.poster.delete(setup.connectionId);
    expect(await setup.poster.get(setup.connectionId)).toBe('gone');
  });

  it('says nothing of a connection when the gateway says nothing, after a few tries', async () => {
    const setup = await setUp();
    const { emulator, connectionId } = setup;
    const wrong = { ...emulator.credentials, secretAccessKey: 'another' };
    const waits: number[] = [];
    expect(await posterFor(emulator, { credentials: wrong }, waits).get(connectionId)).toBe('unknown');
    expect(waits).toHaveLength(3);
  });

  it('asks once where its time is out', async () => {
    const { emulator, connectionId } = await setUp();
    const wrong = { ...emulator.credentials, secretAccessKey: 'another' };
    const waits: number[] = [];
    expect(await posterFor(emulator, { credentials: wrong }, waits).get(connectionId, 0)).toBe('unknown');
    expect(waits).toEqual([]);
  });
});

describe('a signature', () => {
  const nowMs = Date.UTC(2026, 7, 30, 12, 36, 0);

  const HOST = 'a1b2c3d4e5.execute-api.us-east-1.amazonaws.com';
  const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

  it('names the day, the Region and the headers that it covers', () => {
    const headers = new RequestSigner(CREDENTIALS, 'us-east-1', HOST).sign('POST', '/', EMPTY_SHA256, nowMs);
    expect(headers.split('\r\n')).toEqual([
      `host:${HOST}`,
      'x-amz-date:20260830T123600Z',
      expect.stringMatching(
        /^authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260830\/us-east-1\/execute-api\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
      ),
      '',
    ]);
  });

  it('covers the session token of temporary credentials', () => {
    const signer = new RequestSigner({ ...CREDENTIALS, sessionToken: 'token' }, 'us-east-1', HOST);
    const headers = signer.sign('POST', '/', EMPTY_SHA256, nowMs);
    expect(headers).toContain('\r\nx-amz-security-token:token\r\n');
    expect(headers).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,');
  });

  it('changes with the second and its key with the day, and comes back to the same', () => {
    const signer = new RequestSigner(CREDENTIALS, 'us-east-1', HOST);
    const sign = (ms: number) => signer.sign('POST', '/', EMPTY_SHA256, ms);
    const now = sign(nowMs);
    expect(sign(nowMs + 999)).toBe(now);
    expect(sign(nowMs + 1_000)).not.toBe(now);
    const tomorrow = sign(nowMs + 86_400_000);
    expect(tomorrow).toContain('/20260831/');
    expect(sign(nowMs)).toBe(now);
    const fresh = new RequestSigner(CREDENTIALS, 'us-east-1', HOST);
    expect(fresh.sign('POST', '/', EMPTY_SHA256, nowMs + 86_400_000)).toBe(tomorrow);
  });

  it('encodes what encodeURIComponent leaves', () => {
    expect(encodeStrictly("a=b/c!'()*~-_.")).toBe('a%3Db%2Fc%21%27%28%29%2A~-_.');
    expect(encodePath('/mqtt/@connections/a%3D')).toBe('/mqtt/%40connections/a%253D');
  });
});

const CREDENTIALS: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

/** A server in the gateway's place. */
async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ managementEndpoint: string }> {
  const server: Server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { managementEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt` };
}
