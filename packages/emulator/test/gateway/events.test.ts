import { expect, test } from 'vitest';
import type { ConnectEvent, DisconnectEvent, MessageEvent } from '../../src/index.ts';
import { Client, deferred, ok, start } from '../support.ts';

const GATEWAY_ID = /^[A-Za-z0-9_-]{15}=$/;

/** The fields about the connection that all three kinds of events have. */
const common = (connectionId: string) => ({
  apiId: 'a1b2c3d4e5',
  connectedAt: Date.UTC(2026, 0, 1),
  connectionId,
  domainName: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  extendedRequestId: expect.stringMatching(GATEWAY_ID),
  identity: { sourceIp: '127.0.0.1', userAgent: 'tester/1' },
  messageDirection: 'IN',
  requestId: expect.stringMatching(GATEWAY_ID),
  stage: 'mqtt',
});

/** The events of one connection: its handshake, a message three seconds later and its end after three more. */
async function events(options: Parameters<typeof start>[1] = {}, userAgent = 'tester/1') {
  const connect = deferred<ConnectEvent>();
  const message = deferred<MessageEvent>();
  const disconnect = deferred<DisconnectEvent>();
  const emulator = await start(
    {
      async connect(event) {
        connect.resolve(event);
        return ok;
      },
      async default(event) {
        message.resolve(event);
        return { ...ok, body: 'reply' };
      },
      async disconnect(event) {
        disconnect.resolve(event);
      },
    },
    options,
  );
  const client = await Client.open(emulator.url, [], { headers: { 'User-Agent': userAgent } });
  const connectionId = emulator.connectionIds()[0] ?? '';
  await emulator.clock.advance(3_000);
  client.send('hello');
  await client.next();
  await emulator.clock.advance(3_000);
  client.socket.close(1000, 'bye');
  return {
    connectionId,
    connect: await connect.promise,
    message: await message.promise,
    disconnect: await disconnect.promise,
  };
}

test('a $connect event has exactly the documented shape', async () => {
  const { connect, connectionId } = await events();
  const { headers, multiValueHeaders, ...rest } = connect;
  expect(rest).toEqual({
    requestContext: {
      ...common(connectionId),
      eventType: 'CONNECT',
      requestTime: '01/Jan/2026:00:00:00 +0000',
      requestTimeEpoch: Date.UTC(2026, 0, 1),
      routeKey: '$connect',
    },
    isBase64Encoded: false,
  });
  expect(headers).toMatchObject({
    Host: expect.any(String),
    'Sec-WebSocket-Key': expect.any(String),
    'Sec-WebSocket-Version': '13',
    'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Port': expect.any(String),
    'X-Forwarded-Proto': 'http',
  });
  expect(Object.keys(multiValueHeaders)).toEqual(Object.keys(headers));
});

test('a message event has exactly the documented shape', async () => {
  const { message, connectionId } = await events();
  expect(message).toEqual({
    requestContext: {
      ...common(connectionId),
      eventType: 'MESSAGE',
      messageId: expect.stringMatching(GATEWAY_ID),
      requestTime: '01/Jan/2026:00:00:03 +0000',
      requestTimeEpoch: Date.UTC(2026, 0, 1, 0, 0, 3),
      routeKey: '$default',
    },
    body: 'hello',
    isBase64Encoded: false,
  });
});

test('a $disconnect event has exactly the documented shape', async () => {
  const { disconnect, connectionId } = await events();
  expect(disconnect).toEqual({
    headers: {
      Host: disconnect.requestContext.domainName,
      'x-api-key': '',
      'X-Forwarded-For': '',
      'x-restapi': '',
    },
    multiValueHeaders: {
      Host: [disconnect.requestContext.domainName],
      'x-api-key': [''],
      'X-Forwarded-For': [''],
      'x-restapi': [''],
    },
    requestContext: {
      ...common(connectionId),
      disconnectReason: 'bye',
      disconnectStatusCode: 1000,
      eventType: 'DISCONNECT',
      requestTime: '01/Jan/2026:00:00:06 +0000',
      requestTimeEpoch: Date.UTC(2026, 0, 1, 0, 0, 6),
      routeKey: '$disconnect',
    },
    isBase64Encoded: false,
  });
});

test('stage, API and domain are those of the options', async () => {
  const { message } = await events({ apiId: 'api1', domainName: 'broker.example', stage: 'prod' });
  expect(message.requestContext).toMatchObject({
    apiId: 'api1',
    domainName: 'broker.example',
    stage: 'prod',
  });
});

test('without a User-Agent the identity has none', async () => {
  const { message } = await events({}, '');
  expect(message.requestContext.identity).toEqual({ sourceIp: '127.0.0.1' });
});
