import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDoors } from '@apus/cli';
import { readIdentity } from '@apus/identity';
import { readTopics, TopicCatalogue } from '@apus/topics';
import { Parser } from '@asyncapi/parser';
import { SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { buildCommand } from '../support/build-command.ts';

const run = promisify(execFile);
const SECRET = 'a secret of at least thirty-two bytes';
const KEY = 'a-key-of-the-api-that-is-long-enough';
const PORTAL = fileURLToPath(new URL('../../examples/portal/', import.meta.url));
const sampled = { payload: { type: 'object' }, checkPayload: true, sampled: true };
const topics = [
  { topic: 'news', subscribe: 'All' },
  { topic: 'orders', publish: 'acme', tenants: ['acme'] },
  { topic: 'secret/plans', publish: 'Few', subscribe: 'Few', ...sampled },
  { topic: 'of/{name}/mood', publish: 'Each for itself', subscribe: 'Each for itself', ...sampled },
];

async function serve(isProtected: boolean, apiKey: string | null = KEY) {
  const identity = readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'identity');
  const node = await startDoors({
    ...{ port: 0, gatewayPort: 0, logLevel: 'silent' },
    topics: new TopicCatalogue(readTopics({ topics })),
    streams: [{ name: 'prices', topicFilter: 'prices/+' }],
    ...(isProtected && { identity, apiKey: apiKey ?? undefined }),
  });
  onTestFinished(() => node.stop());
  const get = async (headers: Record<string, string> = {}, method = 'GET') =>
    await fetch(new URL('/api/v5/asyncapi.json', node.httpUrl), { headers, method });
  return { node, get };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function tokenFor(tenant: string, secret = SECRET, claims: object = {}): Promise<string> {
  return await new SignJWT({ sub: 'ann', tenant, publish: ['#'], subscribe: ['#'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
}

async function addressesOf(answer: Response): Promise<readonly (string | null | undefined)[]> {
  expect(answer.status).toBe(200);
  const { document, diagnostics } = await new Parser().parse(await answer.text());
  expect(diagnostics.filter(({ severity }) => severity < 1)).toEqual([]);
  return (
    document
      ?.channels()
      .all()
      .map((channel) => channel.address()) ?? []
  );
}

test('a node that is open to this machine answers a document that AsyncAPI can parse, with both of its doors', async () => {
  const { node, get } = await serve(false);
  const answer = await get();
  expect(await addressesOf(answer.clone())).toEqual([
    'news',
    'secret/plans',
    'of/{name}/mood',
    'prices/{level2}',
  ]);
  const { servers } = (await answer.json()) as { servers: Record<string, { host: string }> };
  const host = (url = '') => new URL(url).host;
  expect(servers.node?.host).toBe(host(node.url));
  expect(servers.gateway?.host).toBe(host(node.gateway?.url));
});

test('a caller with the key reads the document of any tenant', async () => {
  const { get } = await serve(true);
  expect(await addressesOf(await get(bearer(KEY)))).not.toContain('orders');
  expect(await addressesOf(await get({ ...bearer(KEY), 'Apus-Tenant': 'acme' }))).toContain('orders');
});

test('the holder of a token reads the document of its own tenant, whichever tenant it asks for [SEC-TENANT-4]', async () => {
  const { get } = await serve(true);
  expect(await addressesOf(await get(bearer(await tokenFor('acme'))))).toContain('orders');
  const other = { ...bearer(await tokenFor('other')), 'Apus-Tenant': 'acme' };
  expect(await addressesOf(await get(other))).not.toContain('orders');
});

test('a request without a key or a token, with a token of others, or with another method gets no document', async () => {
  const { get } = await serve(true);
  expect((await get()).status).toBe(401);
  expect((await get(bearer('none'))).status).toBe(401);
  expect((await get(bearer(await tokenFor('acme', 'another secret of thirty-two bytes!')))).status).toBe(401);
  expect((await get(bearer(KEY), 'POST')).status).toBe(405);
});

/** A node with messages, and what the holder of a token with these claims reads there. */
async function published() {
  const { node, get } = await serve(true);
  const publish = async (topic: string, payload: object) => {
    const headers = { ...bearer(KEY), 'Content-Type': 'application/json' };
    const body = JSON.stringify({ topic, payload: JSON.stringify(payload) });
    const url = new URL('/api/v5/publish', node.httpUrl);
    expect([200, 202]).toContain((await fetch(url, { method: 'POST', headers, body })).status);
  };
  await publish('secret/plans', { plan: 'attack at dawn' });
  await publish('of/bob/mood', { mood: 'secretly sad' });
  const read = async (claims: object) => await get(bearer(await tokenFor('default', SECRET, claims)));
  return { get, read, publish };
}

test('the document has topics, operations and newest payloads only as far as the rules of the token allow [SEC-WAY-1]', async () => {
  const { get, read, publish } = await published();
  const none = await read({ publish: [], subscribe: [] });
  expect(await addressesOf(none.clone())).toEqual([]);
  expect(await none.text()).not.toContain('dawn');
  const own = await read({ publish: ['secret/#'], subscribe: ['of/%u/#', 'prices/gold'] });
  expect(await addressesOf(own.clone())).toEqual(['secret/plans', 'of/{name}/mood', 'prices/{level2}']);
  const text = await own.text();
  expect(text).not.toMatch(/dawn|secretly/);
  const { operations } = JSON.parse(text) as { operations: object };
  expect(Object.keys(operations)).toEqual(['topic1Publish', 'topic2Subscribe', 'topic3Subscribe']);
  await publish('of/ann/mood', { mood: 'fine' });
  expect(await (await read({ publish: [], subscribe: ['of/%u/#'] })).text()).toContain('"fine"');
  expect(await (await read({ subscribe: ['secret/plans'] })).text()).toContain('dawn');
  expect(await (await get(bearer(KEY))).text()).toContain('dawn');
});

test('where the API is closed, the document asks for a token, and its holders read it', async () => {
  const { get } = await serve(true, null);
  const refused = await get();
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect((await get(bearer('none'))).status).toBe(401);
  expect(await addressesOf(await get(bearer(await tokenFor('acme'))))).toContain('orders');
});

test('the document asks for a token at servers that require one, and at no others', async () => {
  for (const isProtected of [false, true]) {
    const { get } = await serve(isProtected);
    const { servers } = (await (await get(bearer(KEY))).json()) as { servers: Record<string, object> };
    for (const server of Object.values(servers)) expect('security' in server).toBe(isProtected);
  }
});

test('`apus topics` checks a file, and prints its document for a page beside a deployment', async () => {
  const command = join(await buildCommand(), 'apus.js');
  const apus = async (...args: string[]) =>
    (await run(process.execPath, [command, 'topics', ...args], { cwd: PORTAL })).stdout;
  expect(await apus('check', 'topics.json')).toContain(
    'sensors/{sensor}/temperature  Temperature  checked\n',
  );
  const printed = await apus('asyncapi', 'topics.json', '--streams', 'streams.json');
  expect(await addressesOf(new Response(printed))).toContain('sensors/{sensor}/temperature');
  await expect(apus('check', 'streams.json')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no field "streams"'),
  });
});
