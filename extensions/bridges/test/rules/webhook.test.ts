import type { LookupAddress } from 'node:dns';
import type { Message } from '@apus/broker';
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readRules } from '../../src/index.ts';
import type { WebhookConfiguration } from '../../src/rules/configuration/webhook.ts';
import type { Resolve } from '../../src/rules/targets/addresses.ts';
import { Webhook } from '../../src/rules/targets/webhook.ts';
import { receiver, status } from '../support/receiver.ts';
import { LOOPBACK, PLACE } from '../support/ruled.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

function webhookTo(webhook: object, resolve?: Resolve): Webhook {
  const rule = { name: 'test', filter: '#', to: { webhook: { allowAddresses: LOOPBACK, ...webhook } } };
  const [read] = readRules({ rules: [rule] }, PLACE);
  const made = new Webhook('test', read?.to as WebhookConfiguration, resolve);
  onTestFinished(() => made.stop());
  return made;
}

function messageOf(payload: string | Uint8Array, topic = 'a'): Message {
  return {
    ...{ id: `id-${payload}`, topic, payload: Buffer.from(payload), qos: 1, retain: false },
    properties: { userProperties: [['k', 'v']] },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
  };
}

const to = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('a webhook', () => {
  test('posts a batch that the receiver can verify', async () => {
    const { url, requests } = await receiver();
    const webhook = webhookTo({ url, secret: SECRET, headers: { authorization: 'Bearer x' } });
    expect(await webhook.send([messageOf('1'), messageOf(Buffer.from([255]))])).toBeUndefined();
    const [{ headers, body, messages } = { headers: {}, body: '', messages: [] }] = requests;
    expect(new Verifier(SECRET).verify(body, headers)).toMatchObject({ rule: 'test' });
    expect(() => new Verifier(SECRET).verify(body.replace('test', 'Test'), headers)).toThrow();
    expect(headers).toMatchObject({ authorization: 'Bearer x', 'content-type': 'application/json' });
    expect(messages).toEqual([
      expect.objectContaining({
        topic: 'a',
        payload: '1',
        payload_encoding: 'plain',
        user_properties: [['k', 'v']],
      }),
      expect.objectContaining({ payload: '/w==', payload_encoding: 'base64' }),
    ]);
  });

  test.each([
    [400, true],
    [404, true],
    [408, false],
    [429, false],
    [500, false],
    [503, false],
  ])('that answers %i has failed, for good: %s', async (code, isPermanent) => {
    const { url } = await receiver(status(code, { 'retry-after': '7' }));
    const message = messageOf('1');
    expect(await webhookTo({ url }).send([message])).toEqual({
      ...{ messages: [message], isPermanent, retryAfterMs: 7_000 },
      error: `answered ${code}: no`,
    });
  });

  test('follows no redirect, so none leads to an internal address', async () => {
    const inside = await receiver();
    const { url } = await receiver(status(307, { location: inside.url }));
    expect(await webhookTo({ url }).send([messageOf('1')])).toMatchObject({
      error: `answered 307 to ${inside.url}: redirects are not followed`,
      isPermanent: true,
    });
    expect(inside.requests).toEqual([]);
  });

  test('fails after its timeout if the endpoint stalls', async () => {
    const { url } = await receiver(() => {});
    expect(await webhookTo({ url, timeoutSeconds: 1 }).send([messageOf('1')])).toMatchObject({
      error: 'no answer within 1 s',
      isPermanent: false,
    });
  });

  test('fails if the endpoint stalls in the middle of its answer', async () => {
    const { url } = await receiver((_request, response) => void response.writeHead(200).write('x'));
    expect(await webhookTo({ url, timeoutSeconds: 1 }).send([messageOf('1')])).toMatchObject({
      error: 'no answer within 1 s',
    });
  });

  test('fails if the endpoint dies, and reaches it again when it is back', async () => {
    const server = await receiver((_request, response) => void response.destroy());
    const webhook = webhookTo({ url: server.url });
    expect(await webhook.send([messageOf('1')])).toMatchObject({ isPermanent: false });
    await server.die();
    expect(await webhook.send([messageOf('1')])).toMatchObject({
      error: expect.stringContaining('ECONNREFUSED'),
    });
    server.answer = status(200);
    await server.start();
    expect(await webhook.send([messageOf('1')])).toBeUndefined();
  });

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
  ])('to %s is refused in the file', (url) => {
    const rule = { name: 'test', filter: '#', to: { webhook: { url } } };
    expect(() => readRules({ rules: [rule] }, PLACE)).toThrow('which is inside');
  });

  test('to a name that resolves to an internal address is refused at the connection', async () => {
    const { port, requests } = await receiver();
    const webhook = webhookTo({ url: `http://localhost:${port}/`, allowAddresses: ['10.0.0.0/8'] });
    expect(await webhook.send([messageOf('1')])).toMatchObject({
      error: expect.stringMatching(/^localhost leads to .*, which is inside/),
    });
    expect(requests).toEqual([]);
  });

  test('is refused if its name later resolves to an internal address', async () => {
    const { port, requests } = await receiver((_request, response) => void response.destroy());
    const answers = [to('127.0.0.1'), to('10.0.0.1', '::1')];
    const asked: string[] = [];
    const webhook = webhookTo({ url: `http://hook.example:${port}/` }, (hostname, _options, callback) => {
      asked.push(hostname);
      callback(null, answers.shift() ?? []);
    });
    expect(await webhook.send([messageOf('1')])).toMatchObject({ error: 'socket hang up' });
    expect(await webhook.send([messageOf('1')])).toMatchObject({
      error: 'hook.example leads to 10.0.0.1, ::1, which is inside: see "allowAddresses"',
    });
    expect(asked).toEqual(['hook.example', 'hook.example']);
    expect(requests.length).toBe(1);
  });
});
