import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Built, TenantsFile } from '@apus/cli/testing';
import { mintToken, readIdentity } from '@apus/identity';
import type { RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEY = 'a-key-of-more-than-22-characters';
const SECRET = '0123456789abcdef0123456789abcdef';
const CONFIGURATION = { authenticators: [{ tenants: {} }, { jwt: { secret: SECRET } }] };
const SUSPENDED = { state: 'suspended', reason: 'unpaid' };
const ACTIVE = { state: 'active', reason: null };
const NOT_AUTHORIZED = 0x87;

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-tenants-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function api(
  httpUrl: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'apus-tenant': 'default' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function connect(url: string, tenant: string, fields: Record<string, unknown> = {}) {
  const claims = {
    sub: 'ann',
    tenant,
    publish: ['#'],
    subscribe: ['#'],
    expiresInSeconds: 600,
    nowMs: Date.now(),
  };
  const password = await mintToken(new TextEncoder().encode(SECRET), claims);
  const client = await RawClient.open(url);
  onTestFinished(() => client.close());
  client.send({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clean: true, keepalive: 0 },
    ...{ clientId: unique('ann-c'), username: 'x', password: Buffer.from(password), ...fields },
  });
  const connack = await client.next().catch(() => undefined);
  return { client, connack };
}

const codeAt = async (url: string, tenant: string) => (await connect(url, tenant)).connack?.reasonCode;

const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe('a tenant at three processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];
  let directory: string;
  const fileOf = (index: number) => join(directory, `${index}.json`);
  const start = (index: number) =>
    startMember(engine.url, {
      identity: readIdentity(CONFIGURATION, 'test'),
      apiKey: KEY,
      tenants: new TenantsFile(fileOf(index)),
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'apus-tenants-'));
    writeFileSync(
      fileOf(0),
      JSON.stringify({
        tenants: [{ name: 'first', state: 'suspended', createdAt: '2026-01-01T00:00:00.000Z' }],
      }),
    );
    engine = await startEngine(program);
    members = [];
    for (let index = 0; index < 3; index += 1) members.push(await start(index));
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const at = (index: number) => members[index % members.length] as RunningNode;
  const created = async (index: number, more: object = {}) => {
    const name = unique('acme').replaceAll(/[^a-z0-9-]/gi, '-');
    expect((await api(at(index).httpUrl, 'POST', '/tenants', { name, ...more })).status).toBe(201);
    return name;
  };

  it('that is suspended at one process loses its clients everywhere before the request is answered, and they come back [SEC-TENANT-6]', async () => {
    const name = await created(0);
    const clients = await Promise.all(members.map(({ url }) => connect(url, name)));
    const other = await created(1);
    const bystander = await connect(at(1).url, other);
    expect((await api(at(1).httpUrl, 'PUT', `/tenants/${name}`, SUSPENDED)).status).toBe(200);
    for (const { client } of clients)
      expect(await client.expect('disconnect')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
    for (const { url } of members) expect(await codeAt(url, name)).toBe(NOT_AUTHORIZED);
    for (const { httpUrl } of members)
      expect((await api(httpUrl, 'GET', `/tenants/${name}`)).body).toMatchObject(SUSPENDED);
    bystander.client.send({ cmd: 'pingreq' });
    await bystander.client.expect('pingresp');
    // A change of the bans leaves it suspended.
    await api(at(2).httpUrl, 'POST', '/banned', { as: 'clientid', who: unique('pest') });
    for (const { url } of members) expect(await codeAt(url, name)).toBe(NOT_AUTHORIZED);
    expect((await api(at(2).httpUrl, 'PUT', `/tenants/${name}`, ACTIVE)).status).toBe(200);
    for (const { url } of members) expect(await codeAt(url, name)).toBe(0);
  });

  it('has the plan that was set at another process [SEC-TENANT-8]', async () => {
    const name = await created(0, { plan: { connectionsMax: 1 } });
    const { client, connack } = await connect(at(1).url, name);
    expect(connack?.reasonCode).toBe(0);
    expect(await codeAt(at(2).url, name)).toBeUndefined();
    await api(at(1).httpUrl, 'PUT', `/tenants/${name}`, { plan: { connectionsMax: 2 } });
    expect(await codeAt(at(2).url, name)).toBe(0);
    client.send({ cmd: 'pingreq' });
    await client.expect('pingresp');
  });

  it('that is removed at one process leaves no session and no retained message at any', async () => {
    const name = await created(0);
    for (const [index, { url }] of members.entries()) {
      const { client } = await connect(url, name, { ...KEPT, clientId: `ann-${index}` });
      client.send({
        cmd: 'publish',
        topic: `t/${index}`,
        payload: 'x',
        qos: 1,
        retain: true,
        messageId: 1,
      });
      await client.expect('puback');
      if (index > 0) await client.disconnect();
    }
    await api(at(2).httpUrl, 'PUT', `/tenants/${name}`, SUSPENDED);
    expect((await api(at(1).httpUrl, 'DELETE', `/tenants/${name}`)).status).toBe(204);
    for (const { httpUrl } of members)
      expect((await api(httpUrl, 'GET', `/tenants/${name}`)).status).toBe(404);
    // Another tenant may now use its name.
    expect((await api(at(0).httpUrl, 'POST', '/tenants', { name })).status).toBe(201);
    for (const [index, { url }] of members.entries()) {
      const { client, connack } = await connect(url, name, { ...KEPT, clientId: `ann-${index}` });
      expect(connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
      client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] });
      await client.expect('suback');
      await client.expectNothing();
    }
  });

  it('is created once when all of them create it at once, and simultaneous changes leave the same everywhere', async () => {
    const name = unique('acme').replaceAll(/[^a-z0-9-]/gi, '-');
    const answers = await Promise.all(
      members.map(({ httpUrl }) => api(httpUrl, 'POST', '/tenants', { name })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const states = [SUSPENDED, ACTIVE, SUSPENDED, ACTIVE, SUSPENDED, ACTIVE];
    await Promise.all(states.map((state, index) => api(at(index).httpUrl, 'PUT', `/tenants/${name}`, state)));
    const seen = await Promise.all(members.map(({ httpUrl }) => api(httpUrl, 'GET', `/tenants/${name}`)));
    for (const { body } of seen) expect(body).toEqual(seen[0]?.body);
    const code = seen[0]?.body.state === 'suspended' ? NOT_AUTHORIZED : 0;
    for (const { url } of members) expect(await codeAt(url, name)).toBe(code);
  });

  it('comes from the first file alone, is copied to the others as it changes, and is known to a process that joins', async () => {
    for (const { url } of members) expect(await codeAt(url, 'first')).toBe(NOT_AUTHORIZED);
    const name = await created(1, SUSPENDED);
    for (const index of [0, 1, 2]) expect(readFileSync(fileOf(index), 'utf8')).toContain(name);
    writeFileSync(
      fileOf(3),
      JSON.stringify({
        tenants: [{ name: 'other', state: 'active', createdAt: '2026-01-01T00:00:00.000Z' }],
      }),
    );
    const warned: unknown[] = [];
    const late = await startMember(engine.url, {
      identity: readIdentity(CONFIGURATION, 'test'),
      apiKey: KEY,
      tenants: new TenantsFile(fileOf(3)),
      logLevel: 'warn',
      logSink: (entry) => warned.push(entry),
    });
    onTestFinished(() => late.stop());
    expect(warned).toContainEqual(expect.objectContaining({ event: 'tenants-file-not-read' }));
    expect(await codeAt(late.url, name)).toBe(NOT_AUTHORIZED);
    expect((await api(late.httpUrl, 'GET', '/tenants/other')).status).toBe(404);
    expect(readFileSync(fileOf(3), 'utf8')).toContain('other');
  });
});

describe('a tenant that is removed while a process is dead', needs('engine', program), () => {
  const built = new Built();

  it('leaves no session at the process that takes over', async () => {
    const directory = folder();
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const keyFile = join(directory, 'key');
    writeFileSync(keyFile, KEY);
    const start = (index: number) =>
      built.serve([
        ...['--cluster', engine.url, '--tenants', join(directory, `${index}.json`)],
        ...['--identity', JSON.stringify(CONFIGURATION), '--api-key-file', keyFile],
      ]);
    const [dead, alive] = [await start(0), await start(1)];
    expect((await api(alive.pageUrl, 'POST', '/tenants', { name: 'acme' })).status).toBe(201);
    const { connack } = await connect(dead.url, 'acme', { ...KEPT, clientId: 'ann-kept' });
    expect(connack?.reasonCode).toBe(0);
    dead.process.kill('SIGSTOP');
    expect((await api(alive.pageUrl, 'PUT', '/tenants/acme', SUSPENDED)).status).toBe(200);
    expect((await api(alive.pageUrl, 'DELETE', '/tenants/acme')).status).toBe(204);
    expect((await api(alive.pageUrl, 'POST', '/tenants', { name: 'acme' })).status).toBe(201);
    const back = await connect(alive.url, 'acme', { ...KEPT, clientId: 'ann-kept' });
    expect(back.connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
  });
});
