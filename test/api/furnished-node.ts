import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBridges, readBridges, readRules } from '@apus/bridges';
import { type RunningDoors, startDoors } from '@apus/cli';
import { readIdentity, type TenantStore } from '@apus/identity';
import { readTopics, TopicCatalogue } from '@apus/topics';
import { SignJWT } from 'jose';
import mqtt, { type MqttClient } from 'mqtt';
import { expect, vi } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

export const KEY = 'a-key-of-the-api-that-is-long-enough';
export const SECRET = 'a secret of at least thirty-two bytes';
/** No password has it. */
export const HASH = `scrypt:16384:8:1:${'A'.repeat(22)}:${'A'.repeat(43)}`;
const PLACE = { where: 'rules.json', directory: '.', environment: {}, nowMs: Date.now() };

/** A node that holds something for each part of its API. */
export interface FurnishedNode {
  readonly node: RunningDoors;
  /** The base of the API. It ends with `/api/v5`. */
  readonly base: string;
  readonly tokenFor: (tenant: string) => Promise<string>;
  /** Sets the answers that the rule's target gives from now on. */
  target: 200 | 400;
  /** Gives this tenant a client with its session, messages, members of a room, a ban and dead letters. */
  furnish(tenant: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startFurnishedNode(tenants: readonly string[]): Promise<FurnishedNode> {
  const target = createServer((request, response) => {
    request.resume();
    response.writeHead(furnished.target).end('no');
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const { port } = target.address() as AddressInfo;
  const directory = mkdtempSync(join(tmpdir(), 'apus-furnished-'));
  const place = { ...PLACE, where: 'bridges.json' };
  const node = await startDoors({
    ...{ port: 0, gatewayPort: 0, logLevel: 'silent' as const, apiKey: KEY },
    identity: readIdentity(
      {
        authenticators: [
          { jwt: { secret: SECRET } },
          ...tenants.map((tenant) => ({
            users: { name: `of-${tenant}`, file: usersFileOf(directory, tenant), tenant },
          })),
        ],
      },
      'identity',
    ),
    topics: new TopicCatalogue(
      readTopics({
        topics: tenants.map((tenant) => ({ topic: `of/${tenant}`, subscribe: 'All', tenants: [tenant] })),
      }),
    ),
    streams: [{ name: 'chat', topicFilter: 'chat/#' }],
    tenants: new MemoryTenants(),
    openBridges: openBridges(
      readBridges(
        {
          bridges: tenants.map((tenant) => ({
            ...{ name: `to-${tenant}`, tenant, mqtt: { url: 'mqtt://127.0.0.1:1' } },
            out: [{ filter: 'out/#' }],
          })),
        },
        place,
      ),
      readRules(
        {
          rules: tenants.map((tenant) => ({
            ...{ name: `hook-${tenant}`, tenant, filter: 'hooked/#' },
            to: { webhook: { url: `http://127.0.0.1:${port}/`, allowAddresses: ['127.0.0.0/8'] } },
          })),
        },
        PLACE,
      ),
    ),
  });
  const clients: MqttClient[] = [];
  const base = new URL('/api/v5', node.httpUrl).href;
  const furnished: FurnishedNode = {
    ...{ node, base, tokenFor, target: 400 as const },
    async furnish(tenant) {
      const client = await connectAnn(node.url, await tokenFor(tenant));
      clients.push(client);
      for (const one of ['one', 'two', 'three'])
        await client.publishAsync('hooked/a', one, { qos: 1, properties: { userProperties: { a: 'b' } } });
      const headers = { authorization: `Bearer ${KEY}`, 'apus-tenant': tenant };
      await lagBehind(node.url, client, await tokenFor(tenant));
      const trace = JSON.stringify({ name: 'of-ann', type: 'clientid', value: 'ann' });
      await fetch(`${base}/trace`, { method: 'POST', headers, body: trace });
      await client.publishAsync('traced', 'x', { qos: 1 });
      const ban = { as: 'username', who: 'eve', reason: 'spam' };
      await fetch(`${base}/banned`, { method: 'POST', headers, body: JSON.stringify(ban) });
      await vi.waitFor(async () => {
        const answer = await fetch(`${base}/rules`, { headers });
        const { data } = (await answer.json()) as { data: readonly { dead_letters: number }[] };
        expect(data[0]?.dead_letters).toBe(3);
      }, PATIENCE_MS);
    },
    async stop() {
      for (const client of clients) await client.endAsync(true);
      await node.stop();
      target.closeAllConnections();
      await new Promise((resolve) => target.close(resolve));
      rmSync(directory, { recursive: true });
    },
  };
  return furnished;
}

export async function tokenFor(tenant: string): Promise<string> {
  return await new SignJWT({
    sub: 'ann',
    jti: 't-1',
    tenant,
    publish: ['#', '$presence/#'],
    subscribe: ['#'],
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
}

/** A client with subscriptions that is in a room, and has published for each kind of message that is kept. */
export async function connectAnn(url: string, token: string): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, {
    ...{ protocolVersion: 5, clientId: 'ann', username: 'ann', password: token },
    clean: false,
    properties: { sessionExpiryInterval: 300 },
    will: { topic: 'gone', payload: Buffer.from('ann'), qos: 0, retain: false },
  });
  client.on('error', () => {});
  await client.subscribeAsync(['news/#', '$share/g/work/+'], { qos: 1 });
  await client.publishAsync('$presence/room/ann', 'here', { qos: 1 });
  await client.publishAsync('state', 'kept', { qos: 1, retain: true });
  await client.publishAsync('chat/a', 'said', { qos: 1 });
  return client;
}

/** A client that misses a message, and does not fetch another one. */
export async function lagBehind(url: string, publisher: MqttClient, token: string): Promise<void> {
  const client = await mqtt.connectAsync(url, {
    ...{ protocolVersion: 5, clientId: 'ann-lagging', username: 'ann', password: token, clean: false },
    properties: { sessionExpiryInterval: 300, maximumPacketSize: 60 },
  });
  await client.subscribeAsync('lag/#', { qos: 1 });
  await publisher.publishAsync('lag/large', 'x'.repeat(200), { qos: 1 });
  await client.endAsync();
  await publisher.publishAsync('lag/small', 'x', { qos: 1 });
}

function usersFileOf(directory: string, tenant: string): string {
  const file = join(directory, `${tenant}.json`);
  const user = { password: HASH, publish: ['#'], subscribe: [] };
  writeFileSync(
    file,
    JSON.stringify({
      users: [
        { name: `of-${tenant}`, ...user },
        { name: 'bob', ...user },
      ],
    }),
  );
  return file;
}

class MemoryTenants implements TenantStore {
  readonly #entries = new Map<string, string>();

  get(name: string): string | undefined {
    return this.#entries.get(name);
  }

  add(name: string, json: string): boolean {
    if (this.#entries.has(name)) return false;
    this.#entries.set(name, json);
    return true;
  }

  replace(name: string, before: string, json: string): boolean {
    if (this.#entries.get(name) !== before) return false;
    this.#entries.set(name, json);
    return true;
  }

  remove(name: string): boolean {
    return this.#entries.delete(name);
  }

  list() {
    return { tenants: [...this.#entries.values()], next: undefined };
  }
}
