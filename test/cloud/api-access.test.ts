import type { ApiFunction } from '@apus/aws/lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, type From, KEY, KEYS, OTHER_KEY } from './api-caller.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let world: InProcessWorld;

beforeAll(async () => {
  world = await startCloudInProcess({ seed: 6 });
});

afterAll(() => {
  world.stop();
  expect(world.failures).toEqual([]);
});

/** In a new environment, whose rate limits are unused. */
const newFunction = (): ApiFunction => world.apiFunction({ keysSha256: KEYS });

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
