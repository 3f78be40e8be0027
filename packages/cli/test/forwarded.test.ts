import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hashPassword, readIdentity } from '@apus/identity';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { goTo } from '../../../test/support/door.ts';
import { RawClient } from '../../../test/support/raw-client.ts';
import { upgrade } from '../../node/test/support/upgrade.ts';
import type { DoorsOptions, RunningDoors } from '../src/index.ts';
import { doorsForTest } from './support/doors.ts';

type Door = 'node' | 'gateway';
type Headers = Readonly<Record<string, string>>;

const DOORS: readonly Door[] = ['node', 'gateway'];
const SUBPROTOCOLS = { node: 'mqtt', gateway: 'mqtt-text-v1' } as const;
const STRANGER = '203.0.113.9';

/** What proxies write for a stranger who connects to them, and what each needs to be taken for this machine. */
const FORWARDED: readonly (readonly [string, Headers])[] = [
  ['X-Forwarded-For', { 'X-Forwarded-For': STRANGER }],
  ['X-Forwarded-For with an address of this machine', { 'X-Forwarded-For': '127.0.0.1' }],
  ['X-Real-IP', { 'X-Real-IP': STRANGER }],
  ['Forwarded', { Forwarded: `for=${STRANGER}` }],
  ['Via', { Via: '1.1 proxy' }],
  ['X-Forwarded-Proto', { 'X-Forwarded-Proto': 'https' }],
  ['X-Forwarded-Host', { 'X-Forwarded-Host': 'broker.example' }],
  ['CF-Connecting-IP', { 'CF-Connecting-IP': STRANGER }],
  ['the Host of the public name', { Host: 'broker.example' }],
];

const urlOf = (node: RunningDoors, door: Door): string =>
  door === 'node' ? node.url : (node.gateway?.url ?? '');

function handshake(node: RunningDoors, door: Door, headers: Headers = {}) {
  return upgrade(urlOf(node, door), { 'Sec-WebSocket-Protocol': SUBPROTOCOLS[door], ...headers });
}

function get(
  node: RunningDoors,
  path: string,
  headers: Headers = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, node.httpUrl), { headers }, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) });
    });
    asked.on('error', reject);
    asked.end();
  });
}

const withDoors = (options: DoorsOptions = {}) => doorsForTest({ gatewayPort: 0, ...options });

describe.each(DOORS)('without credentials the %s door', (door) => {
  test.each(FORWARDED)(
    'refuses a request that a proxy has forwarded: %s [SEC-LOCAL-1]',
    async (_, headers) => {
      const lines: { fields: { reason?: string } }[] = [];
      const node = await withDoors({ logLevel: 'info', logSink: (line) => lines.push(line as never) });
      const { status, body } = await handshake(node, door, headers);
      expect(status).toBe(403);
      expect(body).toContain('--users');
      expect(lines.find(({ fields }) => fields.reason?.includes('--users'))).toBeDefined();
      expect((await handshake(node, door)).status).toBe(101);
    },
  );

  test.each<[string, number]>([
    [STRANGER, 403],
    [`127.0.0.1, ${STRANGER}`, 403],
    ['unknown', 403],
    ['127.0.0.1', 101],
    ['::1', 101],
  ])(
    'takes the address that a trusted proxy names: %s is answered %i [SEC-LOCAL-1]',
    async (address, expected) => {
      const node = await withDoors({ trustedProxies: ['127.0.0.1'] });
      const headers = { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' };
      expect((await handshake(node, door, headers)).status).toBe(expected);
    },
  );

  test('serves all where the operator has said so, and says once that nothing names the proxy', async () => {
    const lines: unknown[] = [];
    const logSink = (line: unknown) => lines.push(line);
    const node = await withDoors({ allowAnonymous: true, logLevel: 'info', logSink });
    expect(
      (await handshake(node, door, { 'X-Forwarded-For': STRANGER, Host: 'broker.example' })).status,
    ).toBe(101);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'forwarded-for-ignored' }));
  });
});

describe.each(FORWARDED)('a request that a proxy has forwarded: %s', (_, headers) => {
  test('gets neither the API without a key nor the counters [SEC-LOCAL-1]', async () => {
    const lines: unknown[] = [];
    const node = await withDoors({ counters: true, logLevel: 'info', logSink: (line) => lines.push(line) });
    const { status, body } = await get(node, '/api/v5/clients', headers);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'api-refused' }));
    expect(status).toBe(403);
    expect(body).toContain('--api-key-file');
    expect(body).toContain('--trusted-proxy');
    expect((await get(node, '/counters', headers)).status).toBe(404);
    expect((await get(node, '/api/v5/clients')).status).toBe(200);
  });
});

test('the API takes the address that a trusted proxy names [SEC-LOCAL-1]', async () => {
  const node = await withDoors({ trustedProxies: ['127.0.0.1'] });
  const statusFor = async (address: string) =>
    (await get(node, '/api/v5/clients', { 'X-Forwarded-For': address })).status;
  expect(await statusFor(STRANGER)).toBe(403);
  expect(await statusFor('127.0.0.1')).toBe(200);
});

describe.each(DOORS)('behind a trusted proxy, at the %s door,', (door) => {
  let usersFile = '';
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'apus-forwarded-'));
    usersFile = join(directory, 'users.json');
    const password = await hashPassword(Buffer.from('right'));
    writeFileSync(
      usersFile,
      JSON.stringify({ users: [{ name: 'ada', password, publish: [], subscribe: [] }] }),
    );
    return () => rmSync(directory, { recursive: true });
  });
  afterEach(() => goTo('node'));

  async function start(options: DoorsOptions = {}): Promise<RunningDoors> {
    goTo(door);
    const identity = readIdentity({ authenticators: [{ users: { file: usersFile } }] }, 'identity');
    return await withDoors({ identity, trustedProxies: ['127.0.0.1'], ...options });
  }
  async function login(node: RunningDoors, address: string, password: string): Promise<unknown> {
    const credentials = { username: 'ada', password, clientId: 'ada' };
    const { client, connack } = await RawClient.connect(urlOf(node, door), credentials, {
      'X-Forwarded-For': address,
    });
    onTestFinished(() => client.close());
    return connack.reasonCode;
  }

  test('a guesser locks no owner out who is at another address [SEC-GUESS-5]', async () => {
    const node = await start();
    for (let guess = 0; guess < 5; guess++) expect(await login(node, STRANGER, `wrong ${guess}`)).toBe(0x86);
    expect(await login(node, STRANGER, 'right')).toBe(0x9f);
    expect(await login(node, '192.0.2.2', 'right')).toBe(0);
  });

  test('a ban of an address refuses the client that the proxy names, and no other [SEC-GUESS-5]', async () => {
    const apiKey = 'k'.repeat(30);
    const node = await start({ apiKey });
    await login(node, '192.0.2.2', 'right');
    const banned = await fetch(new URL('/api/v5/banned', node.httpUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ as: 'peerhost', who: STRANGER }),
    });
    expect(banned.status).toBe(200);
    const headers = { 'X-Forwarded-For': STRANGER };
    expect((await handshake(node, door, headers)).status).toBe(403);
    expect((await handshake(node, door, { 'X-Forwarded-For': '192.0.2.2' })).status).toBe(101);
  });
});
