import { expect, test } from 'vitest';
import type {
  AuthorizerEvent,
  AuthorizerOptions,
  AuthorizerResult,
  ConnectEvent,
  DisconnectEvent,
  MessageEvent,
} from '../../src/index.ts';
import { Client, deferred, eventually, ok, refusal, start } from '../support.ts';

type Authorize = (event: AuthorizerEvent) => Promise<AuthorizerResult>;

const policy = (Effect: 'Allow' | 'Deny', event: AuthorizerEvent): AuthorizerResult => ({
  principalId: 'alice',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect, Resource: event.methodArn }],
  },
});

const authorizer = (authorize: Authorize, more: Partial<AuthorizerOptions> = {}) => ({
  authorizer: { createEnvironment: () => ({ authorize }), ...more },
});

test("the authorizer's context comes with every event of the connection, as text", async () => {
  const seen: (ConnectEvent | MessageEvent | DisconnectEvent)[] = [];
  const note = async (event: (typeof seen)[number]) => {
    seen.push(event);
    return { ...ok, body: 'noted' };
  };
  const emulator = await start(
    { connect: note, default: note, disconnect: note },
    authorizer(async (event) => ({
      ...policy('Allow', event),
      context: { tenant: 't1', level: 3, admin: false },
    })),
  );
  const client = await Client.open(emulator.url);
  client.send('hello');
  await client.next();
  client.socket.close();
  await eventually(() => seen.length === 3);
  for (const event of seen) {
    expect(event.requestContext.authorizer).toEqual({
      principalId: 'alice',
      integrationLatency: 0,
      tenant: 't1',
      level: '3',
      admin: 'false',
    });
  }
  expect(emulator.counters.snapshot().invocations.authorizer).toMatchObject({ count: 1 });
});

test('the authorizer gets headers, query and the ARN of the handshake', async () => {
  const asked = deferred<AuthorizerEvent>();
  const emulator = await start(
    {},
    authorizer(async (event) => {
      asked.resolve(event);
      return policy('Allow', event);
    }),
  );
  await Client.open(`${emulator.url}?token=secret`);
  expect(await asked.promise).toMatchObject({
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/mqtt/$connect',
    headers: { 'Sec-WebSocket-Version': '13' },
    queryStringParameters: { token: 'secret' },
    requestContext: { routeKey: '$connect', eventType: 'CONNECT' },
  });
});

test.each<[string, Authorize, number]>([
  ['a Deny', async (event) => policy('Deny', event), 403],
  [
    'a policy for something else',
    async (event) => policy('Allow', { ...event, methodArn: 'arn:other' }),
    403,
  ],
  ["the error 'Unauthorized'", () => Promise.reject(new Error('Unauthorized')), 401],
  ['another error', () => Promise.reject(new Error('broken')), 500],
  ['no principal', async () => ({}) as AuthorizerResult, 500],
  [
    'a result over 8 KB',
    async (event) => ({ ...policy('Allow', event), context: { big: 'x'.repeat(8_192) } }),
    500,
  ],
])('%s refuses the handshake, and $connect is not asked', async (_title, authorize, status) => {
  let asked = false;
  const emulator = await start(
    {
      async connect() {
        asked = true;
        return ok;
      },
    },
    authorizer(authorize),
  );
  expect(await refusal(emulator.url)).toMatchObject({ status });
  expect(asked).toBe(false);
});

test('a handshake without an identity source is answered 401, and the authorizer is not asked', async () => {
  const identitySources = ['route.request.querystring.token', 'route.request.header.X-Key'];
  const emulator = await start(
    {},
    authorizer(async (event) => policy('Allow', event), { identitySources }),
  );
  expect(await refusal(emulator.url)).toMatchObject({ status: 401 });
  expect(await refusal(`${emulator.url}?token=1`)).toMatchObject({ status: 401 });
  expect(emulator.counters.snapshot().invocations).toEqual({});
  await Client.open(`${emulator.url}?token=1`, [], { headers: { 'x-key': '2' } });
});

test('an authorizer that exceeds its timeout refuses the handshake with 500', async () => {
  const asked = deferred();
  const emulator = await start(
    {},
    authorizer(() => {
      asked.resolve();
      return new Promise(() => {});
    }),
  );
  const refused = refusal(emulator.url);
  await asked.promise;
  await emulator.clock.advance(5_000);
  expect(await refused).toMatchObject({ status: 500 });
});
