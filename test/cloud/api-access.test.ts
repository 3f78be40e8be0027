import { rulesOfLists } from '@apus/broker';
import type { ApiFunction } from '@apus/cloud/lambda';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodeApi } from '../../packages/cli/src/operate/node-api.ts';
import { NodeOperator } from '../../packages/cli/src/operate/node-operator.ts';
import { startFunctionUrl } from '../support/function-url.ts';
import { call, type From, KEY, KEYS, OTHER_KEY } from './api-caller.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let world: InProcessWorld;

beforeAll(async () => {
  world = await startCloudInProcess({
    ...{ seed: 6, presence: true },
    authenticator: {
      authenticate: ({ username: tenant = 'default' }) => ({
        ...{ tenant, name: 'ann', clientIds: ['+'], rules: rulesOfLists(['#', '$presence/#'], ['#']) },
      }),
    },
  });
});

afterAll(() => {
  world.stop();
  expect(world.failures).toEqual([]);
});

/** In a new environment, whose rate limits are unused. */
const newFunction = (): ApiFunction => world.apiFunction({ keysSha256: KEYS });

it('`apus clients`, `ban`, `bans`, `unban` and `presence` work with the URL of a deployment and its key', async () => {
  const { mqtt } = new Program(world.emulator, 'ann', { username: 'by-hand' });
  onTestFinished(async () => void (await mqtt.endAsync(true)));
  await mqtt.publishAsync('$presence/room/ann', 'here', { qos: 1 });
  const { url, stop } = await startFunctionUrl(newFunction());
  onTestFinished(stop);
  const operator = new NodeOperator(new NodeApi(url, KEY, 'by-hand'));
  const all = async <T>(listed: AsyncIterable<T>): Promise<readonly T[]> => {
    const found: T[] = [];
    for await (const each of listed) found.push(each);
    return found;
  };
  expect(await all(operator.clients(undefined))).toMatchObject([{ clientId: 'ann', isConnected: true }]);
  expect(await all(operator.members('room'))).toMatchObject([{ member: 'ann' }]);
  expect(await operator.ban({ as: 'clientid', who: 'ann' })).toMatchObject({ ban: { who: 'ann' } });
  expect((await all(operator.bans())).map(({ who }) => who).sort()).toEqual(['ann']);
  expect(await operator.unban('clientid', 'ann')).toBe(true);
  expect(await operator.kick('stranger')).toBe(false);
});

it('`apus clients` continues with `meta.next` of each page, since pages are not counted', async () => {
  const asked: (string | null)[] = [];
  const pages = ['one', 'two', 'three'];
  const { url, stop } = await startFunctionUrl(async ({ rawQueryString }) => {
    const after = new URLSearchParams(rawQueryString).get('after');
    asked.push(after);
    const at = Number(after ?? 0);
    const next = at + 1 < pages.length ? String(at + 1) : null;
    const body = { data: [{ clientid: pages[at] }], meta: { limit: 1, hasnext: next !== null, next } };
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  });
  onTestFinished(stop);
  const names: string[] = [];
  for await (const { clientId } of new NodeOperator(new NodeApi(url, KEY)).clients(undefined))
    names.push(clientId);
  expect([names, asked]).toEqual([pages, [null, '1', '2']]);
});

describe('access to the API of a deployment [SEC-API-1]', () => {
  const get = async (handler: ApiFunction, headers: Readonly<Record<string, string>>, from?: From) =>
    (await call(handler, { method: 'GET', path: '/banned' }, { headers }, from)).status;
  const basic = (password: string) => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;

  it('is granted to each known key, in both schemes, and to nothing else', async () => {
    const handler = newFunction();
    for (const authorization of [`Bearer ${KEY}`, `bearer ${OTHER_KEY}`, basic(KEY)])
      expect(await get(handler, { authorization })).toBe(200);
    const wrong = [
      KEY,
      `Bearer ${KEY}x`,
      `Bearer ${KEYS[0]}`,
      `Digest ${KEY}`,
      basic(`${KEY}x`),
      'Bearer ',
      '',
    ];
    for (const authorization of wrong) expect(await get(handler, { authorization })).toBe(401);
  });

  it('is slowed for an address that guesses, and granted to the operator there', async () => {
    const handler = newFunction();
    const statuses = [];
    for (let count = 0; count < 60; count += 1)
      statuses.push(await get(handler, { authorization: 'Bearer x' }));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(await get(handler, { authorization: `Bearer ${KEY}` })).toBe(200);
    expect(await get(handler, { authorization: 'Bearer x' }, { sourceIp: '192.0.2.99' })).toBe(401);
  });

  it('is bounded for a program that has the key and asks in a loop', async () => {
    const handler = newFunction();
    const statuses = [];
    for (let count = 0; count < 100; count += 1) statuses.push(await get(handler, {}));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  it('uses the caller that Lambda has verified if callers sign, and checks no key', async () => {
    const handler = world.apiFunction({ keysSha256: undefined });
    const authorization = `Bearer ${KEY}`;
    expect(await get(handler, { authorization })).toBe(403);
    expect(await get(handler, {}, { signedBy: 'arn:aws:iam::123456789012:user/ops' })).toBe(200);
  });

  it('refuses a query without bounds', async () => {
    const query = `?who=${'x'.repeat(5_000)}`;
    expect((await call(newFunction(), { method: 'GET', path: '/banned' }, { query })).status).toBe(400);
  });
});
