import { createHash, createHmac } from 'node:crypto';
import {
  DeleteConnectionCommand,
  GetConnectionCommand,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import { Client, deferred, managementClient, ok, start, type TestEmulator } from '../support.ts';

const UNKNOWN_CONNECTION_ID = 'AAAAAAAAAAAAAAA=';

async function connected(options: Parameters<typeof start>[1] = {}) {
  const emulator = await start({}, options);
  const client = await Client.open(emulator.url, [], { headers: { 'User-Agent': 'tester/1' } });
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  return { emulator, client, ConnectionId, management: managementClient(emulator) };
}

test("AWS's own client posts, and its signature is found right", async () => {
  const { client, ConnectionId, management, emulator } = await connected();
  await management.send(new PostToConnectionCommand({ ConnectionId, Data: 'hello' }));
  expect(await client.next()).toBe('hello');
  expect(emulator.counters.snapshot().managementCalls).toEqual({ 'POST 200': 1 });
});

test('GetConnection reports when the connection began, when it was last active, and its client', async () => {
  const { client, ConnectionId, management, emulator } = await connected();
  const ConnectedAt = new Date(emulator.clock.now());
  await emulator.clock.advance(60_000);
  client.send('hello');
  await client.next();
  const answer = await management.send(new GetConnectionCommand({ ConnectionId }));
  expect(answer).toMatchObject({
    ConnectedAt,
    LastActiveAt: new Date(ConnectedAt.getTime() + 60_000),
    Identity: { SourceIp: '127.0.0.1', UserAgent: 'tester/1' },
  });
});

test('DeleteConnection closes with 1000, and $disconnect fires', async () => {
  const disconnected = deferred<number>();
  const emulator = await start({
    async disconnect(event) {
      disconnected.resolve(event.requestContext.disconnectStatusCode);
    },
  });
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  await managementClient(emulator).send(new DeleteConnectionCommand({ ConnectionId }));
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(await disconnected.promise).toBe(1000);
});

test.each([PostToConnectionCommand, GetConnectionCommand, DeleteConnectionCommand])(
  'a connection that has gone is answered 410: %o',
  async (Command) => {
    const { emulator, client, ConnectionId, management } = await connected();
    client.socket.close();
    await client.closed;
    await emulator.quiet();
    const input = { ConnectionId, Data: 'hello' };
    await expect(management.send(new Command(input) as PostToConnectionCommand)).rejects.toMatchObject({
      name: 'GoneException',
      $metadata: { httpStatusCode: 410 },
    });
  },
);

test('a connection that never existed is answered 410, a malformed id 400', async () => {
  const { management } = await connected();
  const post = (ConnectionId: string) =>
    management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x' }));
  await expect(post(UNKNOWN_CONNECTION_ID)).rejects.toMatchObject({ name: 'GoneException' });
  await expect(post('nonsense')).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } });
});

test('a post inside $connect is answered 410: the connection is not yet established', async () => {
  const failure = deferred<unknown>();
  const emulator = await start((environment) => ({
    async connect(event) {
      const { connectionId: ConnectionId } = event.requestContext;
      const post = managementClient(environment).send(
        new PostToConnectionCommand({ ConnectionId, Data: 'early' }),
      );
      failure.resolve(await post.catch((error: unknown) => error));
      return ok;
    },
  }));
  await Client.open(emulator.url);
  expect(await failure.promise).toMatchObject({ name: 'GoneException' });
});

test('a post of 131,072 bytes arrives, one byte more is answered 413', async () => {
  const { client, ConnectionId, management } = await connected();
  const post = (bytes: number) =>
    management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x'.repeat(bytes) }));
  await post(131_072);
  expect(await client.next()).toHaveLength(131_072);
  await expect(post(131_073)).rejects.toMatchObject({
    name: 'PayloadTooLargeException',
    $metadata: { httpStatusCode: 413 },
  });
});

test('bytes that are not UTF-8 are replaced by U+FFFD', async () => {
  const { client, ConnectionId, management } = await connected();
  const Data = Uint8Array.from([0x61, 0xff, 0xc3, 0x28, 0x62]);
  await management.send(new PostToConnectionCommand({ ConnectionId, Data }));
  expect(await client.next()).toBe('a\uFFFD\uFFFD(b');
});

test('a client that does not read is answered 429 once its buffer is full', async () => {
  const { client, ConnectionId, management, emulator } = await connected({
    limits: { clientBufferBytesMax: 100_000 },
  });
  client.socket.pause();
  const fill = async () => {
    for (;;) await management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x'.repeat(131_072) }));
  };
  await expect(fill()).rejects.toMatchObject({
    name: 'LimitExceededException',
    $metadata: { httpStatusCode: 429 },
  });
  expect(emulator.connectionIds()).toEqual([ConnectionId]);
});

test('posts that wait for each other arrive in order', async () => {
  const { client, ConnectionId, management } = await connected();
  const sent = Array.from({ length: 20 }, (_, index) => String(index));
  for (const Data of sent) await management.send(new PostToConnectionCommand({ ConnectionId, Data }));
  expect(await client.nextMessages(20)).toEqual(sent);
});

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Signs by hand, so that each part can be made wrong. */
function sign(emulator: TestEmulator, change: Partial<Signing> = {}): Request {
  const { accessKeyId, secretAccessKey, sessionToken } = emulator.credentials;
  const url = new URL(emulator.managementEndpoint);
  const id = encodeURIComponent(emulator.connectionIds()[0] ?? '');
  const date = (change.date ?? new Date()).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/${change.region ?? 'us-east-1'}/${change.service ?? 'execute-api'}/aws4_request`;
  const headers: Record<string, string> = {
    host: url.host,
    'x-amz-date': date,
    'x-amz-security-token': change.token ?? sessionToken,
  };
  const signed = change.signed ?? Object.keys(headers);
  const canonical = [
    'POST',
    `/mqtt/%40connections/${id.replace('%3D', '%253D')}`,
    '',
    ...signed.map((name) => `${name}:${headers[name]}`),
    '',
    signed.join(';'),
    sha256('hello'),
  ].join('\n');
  let key: Buffer = Buffer.from(`AWS4${change.secret ?? secretAccessKey}`);
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const credential = `${change.accessKeyId ?? accessKeyId}/${scope}`;
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed.join(';')}, Signature=${signature}`;
  return {
    method: 'POST',
    path: `${url.origin}/mqtt/@connections/${id}`,
    body: change.body ?? 'hello',
    headers,
  };
}

interface Signing {
  date: Date;
  region: string;
  service: string;
  token: string;
  secret: string;
  accessKeyId: string;
  body: string;
  signed: string[];
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

async function send({ method, path, body, headers }: Request) {
  const response = await fetch(path, { method, body, headers });
  return { status: response.status, type: response.headers.get('x-amzn-errortype') };
}

test('a request signed by hand is taken', async () => {
  const { emulator, client } = await connected();
  expect(await send(sign(emulator))).toEqual({ status: 200, type: null });
  expect(await client.next()).toBe('hello');
});

test.each<[string, Partial<Signing>, string]>([
  ['another secret', { secret: 'wrong' }, 'InvalidSignatureException'],
  ['another body', { body: 'hello!' }, 'InvalidSignatureException'],
  ['another region', { region: 'eu-west-1' }, 'InvalidSignatureException'],
  ['another service', { service: 's3' }, 'InvalidSignatureException'],
  ['a date six minutes ago', { date: minutesFromNow(-6) }, 'InvalidSignatureException'],
  ['a date six minutes ahead', { date: minutesFromNow(6) }, 'InvalidSignatureException'],
  ['the host not signed', { signed: ['x-amz-date', 'x-amz-security-token'] }, 'InvalidSignatureException'],
  ['the token not signed', { signed: ['host', 'x-amz-date'] }, 'InvalidSignatureException'],
  [
    'a header signed that is not there',
    { signed: ['host', 'x-amz-date', 'x-amz-security-token', 'x-mine'] },
    'InvalidSignatureException',
  ],
  ['another token', { token: 'wrong' }, 'UnrecognizedClientException'],
  ['an unknown key', { accessKeyId: 'ASIAUNKNOWN' }, 'UnrecognizedClientException'],
])('a request signed with %s is answered 403', async (_title, change, type) => {
  const { emulator } = await connected();
  expect(await send(sign(emulator, change))).toEqual({ status: 403, type });
});

test('a clock four minutes off is tolerated', async () => {
  const { emulator } = await connected();
  expect(await send(sign(emulator, { date: minutesFromNow(-4) }))).toMatchObject({ status: 200 });
  expect(await send(sign(emulator, { date: minutesFromNow(4) }))).toMatchObject({ status: 200 });
});

test.each<[string, string | undefined, string]>([
  ['without Authorization', undefined, 'MissingAuthenticationTokenException'],
  ['with another scheme', 'Bearer abc', 'IncompleteSignatureException'],
])('a request %s is answered 403', async (_title, authorization, type) => {
  const { emulator } = await connected();
  const { headers, ...request } = sign(emulator);
  const { authorization: _signed, ...unsigned } = headers;
  const changed = { ...request, headers: { ...unsigned, ...(authorization && { authorization }) } };
  expect(await send(changed)).toEqual({ status: 403, type });
});

test('an account that is over its rate is answered 429, until time has passed', async () => {
  const { emulator, ConnectionId, management } = await connected({
    limits: { requestsPerSecond: 1, requestsBurst: 2 },
  });
  const post = () => management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x' }));
  await post();
  await post();
  await expect(post()).rejects.toMatchObject({ name: 'LimitExceededException' });
  await emulator.clock.advance(1_000);
  await post();
});

test('messages and posts share the rate', async () => {
  const { client, ConnectionId, management } = await connected({
    limits: { requestsPerSecond: 1, requestsBurst: 2 },
  });
  client.send('one');
  await client.next();
  const post = () => management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x' }));
  await post();
  await expect(post()).rejects.toMatchObject({ name: 'LimitExceededException' });
  client.send('two');
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test('a client that is throttled gets an error frame when the option says so', async () => {
  const { client, emulator } = await connected({
    limits: { requestsPerSecond: 1, requestsBurst: 1 },
    throttledMessage: 'error-frame',
  });
  client.send('one');
  expect(await client.next()).toBe('one');
  client.send('two');
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Too Many Requests' });
  expect(emulator.counters.snapshot().invocations.$default?.count).toBe(1);
});

test('a request that is far too large is cut', async () => {
  const { emulator } = await connected({ limits: { requestBytesMax: 200_000 } });
  await expect(send(sign(emulator, { body: 'x'.repeat(200_001) }))).rejects.toThrow();
  expect(await send(sign(emulator, { body: 'x'.repeat(200_000) }))).toMatchObject({ status: 403 });
});
