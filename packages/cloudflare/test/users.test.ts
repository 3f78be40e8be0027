import { rmSync } from 'node:fs';
import { hashPassword } from '@apus/identity';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RemotePorts } from './object/remote.ts';
import { needsWorkerd, newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';

const NO_PORTS: RemotePorts = {
  ...{ door: '', authenticator: false, authorizer: 'none', methods: [], logLevel: undefined },
};
const PASSWORD = 'secret';
const NOT_AUTHORIZED = 0x87;
const ALL = { publish: ['#'], subscribe: ['#'] };

describe('the users of a hub', needsWorkerd, () => {
  const folder = newFolder();
  let workerd: Workerd;
  let files: Readonly<Record<string, string>>;
  let hubs = 0;

  beforeAll(async () => {
    const ada = { name: 'ada', password: await hashPassword(Buffer.from(PASSWORD)), ...ALL };
    files = { 'users.json': JSON.stringify({ users: [ada] }) };
    workerd = await startWorkerd(1, folder);
  });
  afterAll(async () => {
    await workerd.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A hub of its own. */
  async function hubWith(users: object) {
    hubs += 1;
    const base = `127.0.0.1:${workerd.port}/hub-${hubs}`;
    const given = { options: { files, quietMs: 2 }, identity: { authenticators: [{ users }] } };
    const body = JSON.stringify({ ...given, remote: NO_PORTS });
    await fetch(`http://${base}/options`, { method: 'POST', body });
    const ask = async (method: string, path: string, sent?: object) => {
      const request = { method, ...(sent && { body: JSON.stringify(sent) }) };
      const answer = await fetch(`http://${base}/api/v5/users${path}`, request);
      return { status: answer.status, text: await answer.text() };
    };
    return {
      ask,
      add: (name: string, rights: object = ALL) =>
        ask('POST', '', { name, plain_password: PASSWORD, ...rights }),
      names: async () => {
        const { data } = JSON.parse((await ask('GET', '')).text) as { data: readonly { name: string }[] };
        return data.map(({ name }) => name);
      },
      /** The object loses its memory; the sockets stay. */
      sleep: async () => void (await fetch(`http://${base}/evict/hibernate`)),
      /** Its sockets go as well. */
      end: async () => void (await fetch(`http://${base}/evict/close`)),
      connect: async (username: string, password = PASSWORD): Promise<MqttClient> => {
        const client = await mqtt.connectAsync(`ws://${base}/mqtt`, {
          ...{ protocolVersion: 5, clientId: username, username, password, reconnectPeriod: 0 },
          ...{ clean: false, properties: { sessionExpiryInterval: 60 } },
        });
        onTestFinished(() => void client.end(true));
        return client;
      },
    };
  }

  it('may connect once they are added, also after an eviction, beside those that are deployed', async () => {
    const { add, connect, end, names } = await hubWith({ file: 'users.json' });
    await expect(connect('bob')).rejects.toThrow();
    expect(await add('bob')).toMatchObject({ status: 204 });
    await connect('bob');
    await connect('ada');
    await end();
    await connect('bob');
    await expect(connect('bob', 'wrong')).rejects.toThrow('Bad User Name or Password');
    expect(await names()).toEqual(['ada', 'bob']);
  });

  it('are in a table of the hub where no file is deployed', async () => {
    const { add, connect, end } = await hubWith({ table: true });
    await expect(connect('bob')).rejects.toThrow();
    await add('bob');
    await end();
    await connect('bob');
  });

  it('end with their connections and sessions when they are removed, also while the hub sleeps [SEC-RULES-6]', async () => {
    const { add, ask, connect, sleep, names } = await hubWith({ table: true });
    await add('bob');
    const bob = await connect('bob');
    const told = new Promise((resolve) => bob.once('disconnect', ({ reasonCode }) => resolve(reasonCode)));
    await sleep();
    expect(await ask('DELETE', '/bob')).toMatchObject({ status: 200 });
    expect(await told).toBe(NOT_AUTHORIZED);
    await expect(connect('bob')).rejects.toThrow();
    expect(await names()).toEqual([]);
    await add('bob');
    const again = await connect('bob');
    expect(again.connected).toBe(true);
  });

  it('have other rules and another password at once, also where they are connected [SEC-RULES-6]', async () => {
    const { add, ask, connect, sleep } = await hubWith({ table: true });
    await add('bob');
    const bob = await connect('bob');
    const messages: string[] = [];
    bob.on('message', (topic) => messages.push(topic));
    await bob.subscribeAsync('news', { qos: 1 });
    await bob.publishAsync('news', 'x', { qos: 1 });
    expect(messages.splice(0)).toEqual(['news']);
    await sleep();
    const change = { plain_password: 'other', subscribe: [], publish: ['news'] };
    expect(await ask('PUT', '/bob', change)).toMatchObject({ status: 204 });
    await expect(bob.subscribeAsync('news', { qos: 1 })).rejects.toThrow();
    await bob.publishAsync('news', 'x', { qos: 1 });
    expect(messages).toEqual([]);
    await expect(bob.publishAsync('other', 'x', { qos: 1 })).rejects.toThrow('Not authorized');
    await expect(connect('bob')).rejects.toThrow('Bad User Name or Password');
    await sleep();
    await connect('bob', 'other');
  });

  it('are refused while they are banned', async () => {
    const { add, connect, ask } = await hubWith({ table: true });
    await add('bob');
    const bob = await connect('bob');
    const told = new Promise((resolve) => bob.once('close', () => resolve('closed')));
    const ban = await ask('POST', '/../banned', { as: 'username', who: 'bob' });
    expect(ban).toMatchObject({ status: 200 });
    expect(await told).toBe('closed');
    await expect(connect('bob')).rejects.toThrow('Banned');
  });

  it('are not changed where they are deployed, nor added twice', async () => {
    const { add, ask } = await hubWith({ file: 'users.json' });
    expect(await add('ada')).toMatchObject({ status: 400 });
    for (const [method, body] of [
      ['PUT', { publish: [] }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await ask(method, '/ada', body);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('deployed');
    }
    expect(await ask('DELETE', '/eve')).toMatchObject({ status: 404 });
    await add('bob');
    expect(await add('bob')).toMatchObject({ status: 400 });
  });
});
