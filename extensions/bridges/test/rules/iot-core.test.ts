import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message } from '@apus/broker';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { canonicalRequest } from '../../../../packages/emulator/src/signature/canonical-request.ts';
import { readRules } from '../../src/index.ts';
import { IotCoreTarget } from '../../src/rules/targets/iot-core.ts';

const CREDENTIALS = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token' };
const REGION = 'eu-west-1';
const NOW_MS = Date.UTC(2026, 0, 1);

interface Request {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

let requests: Request[];
let answer: [status: number, headers?: Record<string, string>];
let url: string;

beforeEach(async () => {
  requests = [];
  answer = [200];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      target: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    response.writeHead(...answer).end('{"message":"why"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
});

function configured(fields: object = {}, filter = 'a/+') {
  const iotCore = { endpoint: url, region: REGION, topic: 'things/{2}', ...fields };
  const place = { where: 'r', directory: '.', environment: {}, nowMs: NOW_MS };
  const [rule] = readRules({ rules: [{ name: 'r', filter, to: { iotCore } }] }, place);
  if (rule?.to.kind !== 'iotCore') throw new Error('expected a rule to IoT Core');
  return rule.to;
}

function target(fields: object = {}, filter?: string): IotCoreTarget {
  return new IotCoreTarget(configured(fields, filter), async () => CREDENTIALS, { now: () => NOW_MS });
}

function message(fields: Partial<Message> = {}): Message {
  return {
    ...{ id: 'id', topic: 'a/lamp', payload: Buffer.from('on'), qos: 2, retain: false, properties: {} },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
    ...fields,
  };
}

/** Computes the signature as the service does, to compare it with the received one. */
function signatureOf({ target: path, headers, body }: Request): string {
  const { authorization = '', 'x-amz-date': date = '' } = headers;
  const [, scope = '', signed = ''] =
    /Credential=AKID\/([^,]+), SignedHeaders=([^,]+)/.exec(authorization) ?? [];
  const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  const canonical = canonicalRequest(
    { method: 'POST', target: path, headers, bodyHash: sha256(body) },
    signed.split(';'),
  );
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>(mac, `AWS4${CREDENTIALS.secretAccessKey}`);
  expect(scope).toBe(`${date.slice(0, 8)}/${REGION}/iotdata/aws4_request`);
  return mac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
}

describe('a rule to IoT Core', () => {
  test('publishes at its data endpoint, signed, with the properties of MQTT 5', async () => {
    const properties = {
      userProperties: [
        ['a', 'ü'],
        ['a', '2'],
      ],
      contentType: 'text/plain',
      responseTopic: 'reply/to',
      correlationData: Buffer.from('c'),
    } as const;
    const sent = message({ topic: 'a/lamp (1)', properties, expiresAtMs: NOW_MS + 60_000 });
    expect(await target({ retain: true }).send([sent])).toBeUndefined();
    const [request] = requests;
    if (request === undefined) throw new Error('expected a request');
    const { pathname, searchParams } = new URL(request.target, url);
    expect(decodeURIComponent(pathname)).toBe('/topics/things/lamp (1)');
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ qos: '1', retain: 'true', contentType: 'text/plain', responseTopic: 'reply/to' },
      messageExpiry: '60',
    });
    const decoded = (name: string) => Buffer.from(request.headers[name] ?? '', 'base64').toString();
    expect(JSON.parse(decoded('x-amz-mqtt5-user-properties'))).toEqual([{ a: 'ü' }, { a: '2' }]);
    expect(decoded('x-amz-mqtt5-correlation-data')).toBe('c');
    expect(request.headers).toMatchObject({ 'x-amz-security-token': 'token' });
    expect(request.body.toString()).toBe('on');
    expect(request.headers.authorization).toContain(`Signature=${signatureOf(request)}`);
  });

  test.each([
    [429, false],
    [503, false],
    [400, true],
    [403, true],
    [302, true],
  ])('takes %i for a failure; for good: %s', async (status, isPermanent) => {
    answer = [status, { location: 'http://169.254.169.254/' }];
    const failure = await target().send([message()]);
    expect(failure).toMatchObject({ isPermanent, error: expect.stringContaining(`answered ${status}`) });
    expect(requests).toHaveLength(1);
  });

  test('tries again if there is no answer or there are no credentials', async () => {
    const away = new IotCoreTarget(
      configured(),
      async () => {
        throw new Error('no credentials');
      },
      { now: () => NOW_MS },
    );
    expect(await away.send([message()])).toMatchObject({ isPermanent: false, error: 'no credentials' });
    expect(await target({ endpoint: 'http://127.0.0.1:9' }).send([message()])).toMatchObject({
      isPermanent: false,
    });
  });

  test('does not send a message that IoT Core cannot take, or that has expired', async () => {
    const large = message({ payload: Buffer.alloc(128 * 1024 + 1) });
    expect(await target().send([large])).toMatchObject({ isPermanent: true });
    const reserved = message({ topic: 'a/$aws/things/lamp/shadow/delete' });
    expect(await target({ topic: '{2}/{3}' }, 'a/#').send([reserved])).toMatchObject({
      isPermanent: true,
      error: 'its topic would be $aws/things',
    });
    for (const topic of ['a/.', 'a/..'])
      expect(await target({ topic: '{2}' }, 'a/#').send([message({ topic })])).toMatchObject({
        isPermanent: true,
      });
    expect(await target().send([message({ expiresAtMs: NOW_MS })])).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('takes the Region from the endpoint', () => {
    const endpoint = 'a1b2c3d4e5f6g7-ats.iot.us-east-1.amazonaws.com';
    expect(configured({ endpoint, region: undefined })).toMatchObject({
      endpoint: `https://${endpoint}`,
      region: 'us-east-1',
    });
  });

  test.each([
    ['an endpoint that is none', { endpoint: 'nowhere' }, 'iotCore.endpoint has to be as a1b2c3'],
    ['no Region', { region: undefined }, 'iotCore.region is missing'],
    ['a topic with a wildcard', { topic: 'things/#' }, 'iotCore.topic is no topic of MQTT'],
    ['a level that the filter has not', { topic: 'things/{3}' }, 'has no placeholder {3}'],
  ])('is refused with %s', (_, fields, sentence) => {
    expect(() => configured(fields)).toThrow(sentence);
  });
});
