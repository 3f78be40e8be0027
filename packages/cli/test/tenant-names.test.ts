import { connect as connectInTextFrames } from '@apus/client';
import { readIdentity } from '@apus/identity';
import { SignJWT } from 'jose';
import * as mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doorsForTest } from './support/doors.ts';

const API_KEY = 'a-key-of-more-than-22-characters';
const SECRET = 'a secret of at least thirty-two bytes';
const LONGEST = 'x'.repeat(64);
/** Names with a special meaning for programs, and the longest name. */
const ODD = ['__proto__', 'constructor', '..', '-', 'default.', LONGEST];
const IMPOSSIBLE = ['', 'a b', 'a/b', '../etc', 'a\u0000b', '$delayed', 'default\u0000', `${LONGEST}x`];
const HUGE = 'x'.repeat(5_000);

async function tokenOf(tenant: string, sub = 'ann'): Promise<string> {
  return await new SignJWT({ sub, tenant, publish: ['#'], subscribe: ['#'], clientIds: ['+'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
}

describe.each(['node', 'gateway'] as const)('tenants in tokens at the %s door', (door) => {
  async function start() {
    const identity = readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'test');
    const doors = await doorsForTest({ apiKey: API_KEY, identity, gatewayPort: 0 });
    const url = door === 'node' ? doors.url : (doors.gateway?.url ?? '');
    const connect = async (token: string, clientId = 'phone'): Promise<mqtt.MqttClient> => {
      const options = { protocolVersion: 5, reconnectPeriod: 0, clientId } as const;
      const client =
        door === 'node'
          ? mqtt.connect(url, { ...options, username: 'token', password: token })
          : connectInTextFrames(mqtt, url, options, { token: () => token });
      onTestFinished(() => void client.end(true));
      await new Promise<void>((resolve, reject) => {
        client.once('connect', () => resolve());
        client.once('error', reject);
        client.once('close', () => reject(new Error('closed')));
      });
      client.on('error', () => {});
      return client;
    };
    return { doors, connect };
  }

  async function hearing(client: mqtt.MqttClient): Promise<string[]> {
    const heard: string[] = [];
    client.on('message', (_topic, payload) => heard.push(payload.toString()));
    await client.subscribeAsync('#', { qos: 1 });
    return heard;
  }

  it('are refused if no tenant can have the name, however long it is [SEC-TENANT-2]', async () => {
    const { connect } = await start();
    for (const tenant of [...IMPOSSIBLE, HUGE])
      await expect(connect(await tokenOf(tenant)), JSON.stringify(tenant)).rejects.toThrow();
    await connect(await tokenOf('default'));
  });

  it('separate tenants with odd names, and subjects that name another tenant [SEC-TENANT-2]', async () => {
    const { connect } = await start();
    const heardByDefault = await hearing(await connect(await tokenOf('default')));
    for (const tenant of ODD) {
      for (const sub of ['ann', 'ann/default', '/identity/default/ann']) {
        const client = await connect(await tokenOf(tenant, sub));
        const heard = await hearing(client);
        await client.publishAsync('t', tenant, { qos: 1, retain: true });
        await expect.poll(() => heard.at(-1)).toBe(tenant);
        expect(new Set(heard)).toEqual(new Set([tenant]));
        await client.endAsync();
      }
    }
    // What separates names in the stores stands in no name [SEC-TOKEN-10].
    for (const sub of ['ann\u0000default', '\u0000identity\u0000default\u0000ann'])
      await expect(connect(await tokenOf('default', sub))).rejects.toThrow();
    const last = await connect(await tokenOf('default', 'bob'), 'another');
    await last.publishAsync('t', 'last', { qos: 1 });
    await expect.poll(() => heardByDefault).toEqual(['last']);
  });

  it('charge each tenant for its own use, whichever subjects its clients have [SEC-TENANT-8]', async () => {
    const { doors, connect } = await start();
    const subjects = ['ann', 'ann/default', '/default/ann'];
    for (const [index, sub] of subjects.entries()) await connect(await tokenOf('forged', sub), `c${index}`);
    const usedOf = async (tenant: string) => {
      const answer = await fetch(new URL('/api/v5/quotas', doors.httpUrl), {
        headers: { authorization: `Bearer ${API_KEY}`, 'apus-tenant': tenant },
      });
      const { data } = (await answer.json()) as { data: { scope: string; name: string; used: number }[] };
      return data.find(({ scope, name }) => scope === 'tenant' && name === 'connectionsMax')?.used;
    };
    expect(await usedOf('default')).toBe(0);
    expect(await usedOf('forged')).toBe(subjects.length);
  });
});
