import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import { presignedUrl, type Signing } from '../../../../test/support/presigned-url.ts';
import type { ConnectEvent, IamCaller, MessageEvent } from '../../src/index.ts';
import { Client, ok, refusal, start } from '../support.ts';

const ADA: IamCaller = {
  credentials: { accessKeyId: 'ASIAADA', secretAccessKey: 'secret of ada', sessionToken: 'to/ken+of=ada' },
  identity: {
    accountId: '123456789012',
    caller: 'AROAEXAMPLE:ada',
    user: 'AROAEXAMPLE:ada',
    userArn: 'arn:aws:sts::123456789012:assumed-role/Clients/ada',
  },
};

function presigned(url: string, signing: Partial<Signing> = {}): Promise<string> {
  return presignedUrl(url, { credentials: ADA.credentials, ...signing });
}

test('a handshake that is signed in its query is let in, and $connect gets the signer', async () => {
  const events: ConnectEvent[] = [];
  const emulator = await start(
    {
      async connect(event) {
        events.push(event);
        return ok;
      },
    },
    { iamCallers: [ADA] },
  );
  await Client.open(await presigned(emulator.url, { query: { a: 'b c*' } }));
  expect(events[0]?.requestContext.identity).toEqual({
    ...ADA.identity,
    accessKey: 'ASIAADA',
    sourceIp: '127.0.0.1',
  });
});

test('a handshake may be signed in its Authorization header', async () => {
  const emulator = await start({}, { iamCallers: [ADA] });
  const { host, hostname, port } = new URL(emulator.url);
  const { config } = new ApiGatewayManagementApiClient({
    endpoint: emulator.managementEndpoint,
    region: 'us-east-1',
    credentials: ADA.credentials,
  });
  const { headers } = await (await config.signer()).sign({
    method: 'GET',
    protocol: 'ws:',
    hostname,
    port: Number(port),
    path: '/mqtt',
    query: {},
    headers: { host },
  });
  await Client.open(emulator.url, [], { headers });
});

test('events after $connect do not name the signer', async () => {
  const events: MessageEvent[] = [];
  const emulator = await start(
    {
      async default(event) {
        events.push(event);
        return { ...ok, body: 'heard' };
      },
    },
    { iamCallers: [ADA] },
  );
  const client = await Client.open(await presigned(emulator.url));
  client.send('hello');
  await client.next();
  expect(events[0]?.requestContext.identity).toEqual({ sourceIp: '127.0.0.1' });
});

const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const stranger = { accessKeyId: 'ASIASTRANGER', secretAccessKey: 'secret', sessionToken: 'token' };

test.each<[string, Partial<Signing>]>([
  ['an unknown key', { credentials: stranger }],
  ['another secret', { credentials: { ...ADA.credentials, secretAccessKey: 'guessed' } }],
  ['another token', { credentials: { ...ADA.credentials, sessionToken: 'guessed' } }],
  ['no token', { credentials: { accessKeyId: 'ASIAADA', secretAccessKey: 'secret of ada' } }],
  ['another service', { service: 's3' }],
  ['another Region', { region: 'eu-west-1' }],
  [
    'a date of six minutes ago, however long it says that it is good',
    { signingDate: minutesFromNow(-6), expiresIn: 3_600 },
  ],
  ['a date of two minutes ago that was good for one', { signingDate: minutesFromNow(-2), expiresIn: 60 }],
  ['a date of six minutes ahead', { signingDate: minutesFromNow(6) }],
])(
  'a handshake that is signed with %s is refused with 403, and $connect is not asked',
  async (_, signing) => {
    const emulator = await start({}, { iamCallers: [ADA] });
    expect(await refusal(await presigned(emulator.url, signing))).toMatchObject({ status: 403 });
    expect(emulator.counters.snapshot().invocations).toEqual({});
  },
);

test.each<[string, (url: string) => string]>([
  ['without a signature', (url) => url.replace(/\?.*/, '')],
  ['with a parameter more than was signed', (url) => `${url}&admin=1`],
  ['with a parameter that was changed', (url) => url.replace('a=b', 'a=c')],
  ['with half of a signature', (url) => url.slice(0, -32)],
  ['with a question mark and more than was signed', (url) => `${url}?admin=1`],
  [
    'with a header of an inherited name among its signed ones',
    (url) => url.replace('SignedHeaders=host', 'SignedHeaders=host%3Bconstructor'),
  ],
  ['with its signature twice', (url) => `${url}&X-Amz-Signature=${'0'.repeat(64)}`],
])('a handshake %s is refused with 403', async (_, change) => {
  const emulator = await start({}, { iamCallers: [ADA] });
  const url = change(await presigned(emulator.url, { query: { a: 'b' } }));
  expect(await refusal(url)).toMatchObject({ status: 403 });
});

test('a handshake that is signed for another host is refused with 403', async () => {
  const emulator = await start({}, { iamCallers: [ADA] });
  const { search } = new URL(await presigned('ws://other.example/mqtt'));
  expect(await refusal(emulator.url + search)).toMatchObject({ status: 403 });
});

test('a caller whose policies do not let it invoke $connect is refused with 403', async () => {
  const connect = 'arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/mqtt/$connect';
  const policy = (resource: string) => ({
    Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: resource }],
  });
  const emulator = await start(
    {},
    {
      iamCallers: [
        { ...ADA, policyDocument: policy(connect.replace('a1b2c3d4e5', 'another')) },
        {
          ...ADA,
          credentials: { accessKeyId: 'AKIABOB', secretAccessKey: 'secret of bob' },
          policyDocument: policy(connect),
        },
      ],
    },
  );
  expect(await refusal(await presigned(emulator.url))).toMatchObject({ status: 403 });
  const credentials = { accessKeyId: 'AKIABOB', secretAccessKey: 'secret of bob' };
  await Client.open(await presigned(emulator.url, { credentials }));
});
