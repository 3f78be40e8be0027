import { createHash } from 'node:crypto';
import { FixedApiKeys, Handshakes, mintToken, parseApiKeys } from '@apus/identity';
import { beforeEach, expect, it } from 'vitest';
import { openAccess } from '../src/access.ts';
import { awakeScheduler } from '../src/alarm-clock.ts';
import { consoleLog } from '../src/console-log.ts';
import { readConfiguration } from '../src/worker/configuration.ts';
import { Front } from '../src/worker/front.ts';

const SECRET = 'a secret of at least thirty-two bytes';
const API_KEY = 'a-key-of-the-api-that-is-long-enough';
const BACKEND_KEY = 'the-key-of-a-backend-with-many-characters';
const HASH = `scrypt:16384:8:1:${'A'.repeat(22)}:${'A'.repeat(43)}`;
const NOTE = 'apus-front';

const USERS = { users: [{ name: 'bob', password: HASH, publish: ['#'], subscribe: ['#'] }] };
const KEYS = { keys: [{ name: 'orders', key: BACKEND_KEY, tenant: 'shop', publish: ['orders/#'] }] };

const TEXTS = {
  CONFIGURATION: JSON.stringify({ allowedOrigins: ['https://app.example'], tenants: ['named'] }),
  IDENTITY: JSON.stringify({
    authenticators: [
      { jwt: { secret: SECRET } },
      { users: { file: 'users.json', tenant: 'acme' } },
      { apiKeys: { file: 'keys.json' } },
    ],
  }),
  FILES: JSON.stringify({ 'users.json': JSON.stringify(USERS), 'keys.json': JSON.stringify(KEYS) }),
  API_KEY,
};

/** Requests that hubs were sent, each with its tenant. */
const sent: (readonly [tenant: string, request: Request])[] = [];
let front: Front;

beforeEach(() => {
  sent.length = 0;
  const configuration = readConfiguration(TEXTS);
  const { handshakes } = openAccess(configuration.hub, awakeScheduler, consoleLog);
  expect(handshakes).toBeInstanceOf(Handshakes);
  const keys = [new FixedApiKeys(parseApiKeys(JSON.stringify(KEYS)))];
  front = new Front({ configuration, handshakes, keys, log: consoleLog, clock: awakeScheduler });
});

async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  body?: string,
): Promise<number | undefined> {
  const request = new Request(`http://broker.example${path}`, { method, headers, ...(body && { body }) });
  const answer = await front.answer(request, {
    hubOf: (tenant) => ({
      fetch: async (asked) => {
        sent.push([tenant, asked]);
        return new Response('of the hub');
      },
    }),
    waitUntil: () => {},
  });
  return answer?.status;
}

const UPGRADE = { upgrade: 'websocket', 'sec-websocket-protocol': 'mqtt' };

const connect = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  ask(path, { ...UPGRADE, ...headers });

const tokenOf = (tenant: string, { secret = SECRET, seconds = 60 } = {}) =>
  mintToken(Buffer.from(secret), {
    ...{ sub: 'ann', tenant, publish: ['#'], subscribe: ['#'] },
    ...{ expiresInSeconds: seconds, nowMs: Date.now() },
  });

const notes = () =>
  sent.map(([tenant, { headers }]) => [tenant, JSON.parse(decodeURIComponent(headers.get(NOTE) ?? ''))]);

it('passes a token on to the hub of its own tenant, whichever of its two paths is used [SEC-TENANT-10]', async () => {
  const token = await tokenOf('acme');
  for (const path of ['/mqtt', '/acme/mqtt']) expect(await connect(`${path}?token=${token}`)).toBe(200);
  const note = expect.objectContaining({
    tenant: 'acme',
    identity: expect.objectContaining({ tenant: 'acme', name: 'ann' }),
  });
  expect(notes()).toEqual([
    ['acme', note],
    ['acme', note],
  ]);
});

it.each([
  ['a token of another tenant', async () => `/others/mqtt?token=${await tokenOf('acme')}`, 403],
  [
    'a token of another secret',
    async () => `/mqtt?token=${await tokenOf('acme', { secret: `${SECRET}!` })}`,
    403,
  ],
  ['a token that has expired', async () => `/mqtt?token=${await tokenOf('acme', { seconds: -600 })}`, 403],
  ['a token of a tenant that is syntax', async () => `/mqtt?token=${await tokenOf('a/../b')}`, 403],
  ['nothing, at a tenant that no configuration names', () => '/others/mqtt', 401],
  ['nothing, at a name that objects have', () => '/__proto__/mqtt', 401],
  ['nothing, at another one', () => '/constructor/mqtt', 401],
] as readonly (readonly [string, () => string | Promise<string>, number])[])(
  'wakes no hub for %s [SEC-TENANT-10]',
  async (_what, path, status) => {
    expect(await connect(await path())).toBe(status);
    expect(sent).toEqual([]);
  },
);

it.each([
  '/%61cme/mqtt',
  '/a%2Fb/mqtt',
  '/acme%00/mqtt',
  '/a%20b/mqtt',
  '/a/acme/mqtt',
  '//acme/mqtt',
  '/acme/mqtt/',
])('knows no tenant in %s', async (path) => {
  expect(await connect(path)).toBeUndefined();
  expect(sent).toEqual([]);
});

it('lets CONNECT show a password at the tenants that the configuration names, and says so to the hub', async () => {
  for (const path of ['/mqtt', '/acme/mqtt', '/shop/mqtt', '/named/mqtt'])
    expect(await connect(path)).toBe(200);
  const tenants = ['default', 'acme', 'shop', 'named'];
  expect(notes()).toEqual(tenants.map((tenant) => [tenant, { tenant, address: 'unknown' }]));
});

it('tells a hub what it has found itself, and nothing of what the client has sent [SEC-TENANT-10]', async () => {
  const forged = encodeURIComponent(
    JSON.stringify({ tenant: 'acme', identity: { tenant: 'acme', name: 'root' } }),
  );
  await connect('/mqtt', {
    [NOTE]: forged,
    'Apus-Front': forged,
    'x-other': 'a',
    'cf-connecting-ip': '192.0.2.7',
  });
  expect(notes()).toEqual([['default', { tenant: 'default', address: '192.0.2.7', host: '192.0.2.7' }]]);
  const [[, request] = []] = sent;
  expect([...(request?.headers.keys() ?? [])].sort()).toEqual([NOTE, 'sec-websocket-protocol', 'upgrade']);
  expect(request?.url).toBe('http://hub/mqtt');
});

it('refuses pages of other origins, and what is no WebSocket of MQTT', async () => {
  expect(await connect('/mqtt', { origin: 'https://elsewhere.example' })).toBe(403);
  expect(await connect('/mqtt', { 'sec-websocket-protocol': 'chat' })).toBe(400);
  expect(await ask('/mqtt', { 'sec-websocket-protocol': 'mqtt' })).toBe(426);
  expect(sent).toEqual([]);
  expect(await connect('/mqtt', { origin: 'https://app.example' })).toBe(200);
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

it('passes an operator on to the tenant that it names, with the headers that a hub reads', async () => {
  const headers = { ...bearer(API_KEY), 'apus-tenant': 'acme', cookie: 'a=b', [NOTE]: '%7B%7D' };
  expect(await ask('/api/v5/clients?limit=1', headers)).toBe(200);
  expect(notes()).toEqual([['acme', { tenant: 'acme' }]]);
  expect([...(sent[0]?.[1].headers.keys() ?? [])]).toEqual([NOTE]);
  expect(sent[0]?.[1].url).toBe('http://hub/api/v5/clients?limit=1');
});

it.each([
  ['no key', '/api/v5/clients', {}, 401],
  ['a wrong key', '/api/v5/clients', bearer(`${API_KEY}!`), 401],
  ['the hash of the key', '/api/v5/clients', bearer(createHash('sha256').update(API_KEY).digest('hex')), 401],
  ['the key of a backend', '/api/v5/clients', bearer(BACKEND_KEY), 401],
  ['a tenant that is syntax', '/api/v5/clients', { ...bearer(API_KEY), 'apus-tenant': '../acme' }, 400],
  ['a path that there is not', '/api/v5/nothing', bearer(API_KEY), 404],
  ['a method that there is not', '/api/v5/quotas', bearer(API_KEY), 405],
  ['a stream of events', '/api/v5/events?topic=a', bearer('the token of a client'), 501],
] as const)('wakes no hub for a request of the API with %s', async (_what, path, headers, status) => {
  const method = status === 405 ? 'POST' : 'GET';
  expect(await ask(path, headers, method)).toBe(status);
  expect(sent).toEqual([]);
});

it('lets the key of a backend publish for its own tenant alone, and nothing else [SEC-TENANT-1]', async () => {
  const headers = { ...bearer(BACKEND_KEY), 'content-type': 'application/json' };
  expect(await ask('/api/v5/publish', headers, 'POST', '{}')).toBe(200);
  expect(notes()).toEqual([
    ['shop', { tenant: 'shop', caller: expect.objectContaining({ tenant: 'shop', name: 'orders' }) }],
  ]);
  sent.length = 0;
  expect(await ask('/api/v5/publish', { ...headers, 'apus-tenant': 'acme' }, 'POST', '{}')).toBe(403);
  expect(await ask('/api/v5/clients', { ...headers, 'apus-tenant': 'shop' })).toBe(401);
  expect(sent).toEqual([]);
});

it('makes an address wait that guesses keys, and no other [SEC-COST-2]', async () => {
  const from = (host: string) => ({ ...bearer('wrong'), 'cf-connecting-ip': host });
  const statuses = new Set<number | undefined>();
  for (let guess = 0; guess < 200; guess += 1) statuses.add(await ask('/api/v5/clients', from('192.0.2.1')));
  expect([...statuses]).toEqual([401, 429]);
  expect(await ask('/api/v5/clients', from('198.51.100.1'))).toBe(401);
});

it.each([
  [{ CONFIGURATION: '{"unknown": 1}' }, 'CONFIGURATION has no field "unknown".'],
  [{ CONFIGURATION: '{"topics": {}}' }, 'CONFIGURATION: a hub checks no payloads against schemas'],
  [{ CONFIGURATION: '[]' }, 'CONFIGURATION is no JSON object.'],
  [
    { CONFIGURATION: '{"tenants": ["a b"]}' },
    'tenants: each has up to 64 letters, digits, ".", "_" and "-".',
  ],
  [
    { CONFIGURATION: '{"location": "mars"}' },
    'location is no hint and no jurisdiction of Cloudflare: "mars".',
  ],
  [{ API_KEY: 'short' }, 'API_KEY has at least 22 characters.'],
])('refuses %s with a sentence', (texts, sentence) => {
  expect(() => readConfiguration(texts)).toThrow(sentence);
});
