import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword, readIdentity } from '@apus/identity';
import mqtt from 'mqtt';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import type { RunningNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';
const HEADERS = { authorization: `Bearer ${KEY}` };

let password: string;
beforeAll(async () => {
  password = await hashPassword(Buffer.from('secret'));
});

interface UsersNode {
  readonly node: RunningNode;
  readonly file: string;
  ask(method: string, path: string, body?: object): ReturnType<typeof call>;
}

async function nodeWithUsers(): Promise<UsersNode> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'users.json');
  writeFileSync(
    file,
    JSON.stringify({ users: [{ name: 'ada', password, publish: ['#'], subscribe: ['#'] }] }),
  );
  chmodSync(file, 0o640);
  const identity = readIdentity({ authenticators: [{ users: { file } }] }, 'identity');
  const node = await nodeForTest({ identity, apiKey: KEY });
  return { node, file, ask: (method, path, body) => call(node.httpUrl, path, method, HEADERS, body) };
}

const connect = (node: RunningNode, username: string, given: string) =>
  mqtt.connectAsync(node.url, { protocolVersion: 5, reconnectPeriod: 0, username, password: given });

async function canConnect(node: RunningNode, username: string, given: string): Promise<boolean> {
  try {
    await (await connect(node, username, given)).endAsync(true);
    return true;
  } catch {
    return false;
  }
}

test('lists users and their rules, and no hash', async () => {
  const { ask } = await nodeWithUsers();
  const { status, body } = await ask('GET', '/users');
  expect(status).toBe(200);
  expect(body).toMatchObject({ data: [{ name: 'ada', publish: ['#'], subscribe: ['#'] }] });
  expect(JSON.stringify(body)).not.toContain('scrypt');
});

test('adds a user with a password, at once; the file keeps its mode, and holds its hash alone', async () => {
  const { node, file, ask } = await nodeWithUsers();
  const bob = { name: 'bob', plain_password: 'hunter2', publish: ['b/#'], subscribe: [] };
  expect((await ask('POST', '/users', bob)).status).toBe(204);
  expect(await canConnect(node, 'bob', 'hunter2')).toBe(true);
  expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
  expect(readFileSync(file, 'utf8')).toContain('"bob"');
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(await ask('POST', '/users', bob)).toMatchObject({ status: 400, body: { code: 'ALREADY_EXISTS' } });
});

test('changes rules for clients that are connected, and a password from the next CONNECT on', async () => {
  const { node, ask } = await nodeWithUsers();
  const ada = await connect(node, 'ada', 'secret');
  onTestFinished(() => ada.endAsync(true));
  expect((await ask('PUT', '/users/ada', { publish: ['only/#'] })).status).toBe(204);
  await expect(ada.publishAsync('other', 'x', { qos: 1 })).rejects.toThrow(/Not authorized/);
  await ada.publishAsync('only/this', 'x', { qos: 1 });
  expect((await ask('PUT', '/users/ada', { plain_password: 'another' })).status).toBe(204);
  expect(await canConnect(node, 'ada', 'secret')).toBe(false);
  expect(await canConnect(node, 'ada', 'another')).toBe(true);
  expect((await ask('PUT', '/users/ada', { quotas: { connectionsMax: 3 } })).status).toBe(204);
  expect((await ask('PUT', '/users/ada', { quotas: null })).status).toBe(204);
  expect((await ask('GET', '/users')).body).toMatchObject({ data: [{ name: 'ada', publish: ['only/#'] }] });
});

test('removes a user and its sessions, and keeps the last one', async () => {
  const { node, ask } = await nodeWithUsers();
  await ask('POST', '/users', { name: 'bob', password, publish: [], subscribe: [] });
  const bob = await connect(node, 'bob', 'secret');
  const code = new Promise((resolve) => bob.on('disconnect', ({ reasonCode }) => resolve(reasonCode)));
  expect((await ask('DELETE', '/users/bob')).status).toBe(200);
  expect(await code).toBe(0x87);
  await vi.waitFor(async () => expect(await canConnect(node, 'bob', 'secret')).toBe(false), PATIENCE_MS);
  const last = await ask('DELETE', '/users/ada');
  expect(last).toMatchObject({ status: 400, body: { message: expect.stringContaining('last user') } });
  expect((await ask('DELETE', '/users/bob')).status).toBe(404);
  expect(await canConnect(node, 'ada', 'secret')).toBe(true);
});

test.each([
  ['POST', '/users', { name: 'x', publish: [], subscribe: [] }],
  ['POST', '/users', { name: 'x', password: 'plain', publish: [], subscribe: [] }],
  ['POST', '/users', { name: 'x', plain_password: '', publish: [], subscribe: [] }],
  ['POST', '/users', { name: 'x', plain_password: 'é'.repeat(600), publish: [], subscribe: [] }],
  ['POST', '/users', { name: 'x'.repeat(1_025), plain_password: 'y', publish: [], subscribe: [] }],
  ['POST', '/users', { name: 'x', plain_password: 'y', publish: ['a/#/b'], subscribe: [] }],
  ['POST', '/users', { name: 'x', plain_password: 'y', publish: [], subscribe: [], admin: true }],
  ['POST', '/users', []],
  ['PUT', '/users/ada', { name: 'eve' }],
  ['PUT', '/users/ada', { publish: null }],
  ['PUT', '/users/ada', { publish: 'everything' }],
  ['PUT', '/users/ada', { password: null }],
] as const)('refuses what the node could not read again: %s %s %j', async (method, path, body) => {
  const { file, ask } = await nodeWithUsers();
  const before = readFileSync(file, 'utf8');
  expect(await ask(method, path, body)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('says that another program writes the file, and leaves both files as they are', async () => {
  const { file, ask } = await nodeWithUsers();
  writeFileSync(`${file}.new`, 'of another');
  const added = await ask('POST', '/users', { name: 'bob', password, publish: [], subscribe: [] });
  expect(added).toMatchObject({ status: 503, body: { message: expect.stringContaining('another command') } });
  expect(readFileSync(`${file}.new`, 'utf8')).toBe('of another');
});

test('writes through a link, and leaves it', async () => {
  const { file } = await nodeWithUsers();
  const link = `${file}.link`;
  symlinkSync(file, link);
  const identity = readIdentity({ authenticators: [{ users: { file: link } }] }, 'identity');
  const node = await nodeForTest({ identity, apiKey: KEY });
  const bob = { name: 'bob', password, publish: [], subscribe: [] };
  expect((await call(node.httpUrl, '/users', 'POST', HEADERS, bob)).status).toBe(204);
  expect(readFileSync(file, 'utf8')).toContain('bob');
});

test('users of another tenant are not there, and a node without a file says so', async () => {
  const { node } = await nodeWithUsers();
  const other = { ...HEADERS, 'apus-tenant': 'acme' };
  expect((await call(node.httpUrl, '/users', 'GET', other)).body).toMatchObject({ data: [] });
  expect((await call(node.httpUrl, '/users/ada', 'DELETE', other)).status).toBe(404);
  expect((await call(node.httpUrl, '/users/ada', 'PUT', other, { publish: [] })).status).toBe(404);
  const plain = await nodeForTest();
  expect(await call(plain.httpUrl, '/users')).toMatchObject({
    ...{ status: 501, body: { message: 'This node has no users file: start it with --users FILE.' } },
  });
});
