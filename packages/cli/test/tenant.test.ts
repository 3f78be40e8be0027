import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIdentity } from '@apus/identity';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { TextClient } from '../../../test/support/text-client.ts';
import { type Command, CommandError } from '../src/commands/command.ts';
import { UsageError } from '../src/commands/flags.ts';
import { tenant } from '../src/commands/tenant.ts';
import { token } from '../src/commands/token.ts';
import { TenantsFile } from '../src/tenants-file.ts';
import { commandsForTests } from './support/commands.ts';
import { doorsForTest } from './support/doors.ts';

const KEY = 'a-key-of-more-than-22-characters';
const SECRET = '0123456789abcdef0123456789abcdef';
const IDENTITY = readIdentity({ authenticators: [{ tenants: {} }, { jwt: { secret: SECRET } }] }, 'test');

/** The broker has taken the message, and no client has subscribed. */
const NO_SUBSCRIBERS = 0x10;

const commands = commandsForTests();

async function run(command: Command, ...args: string[]): Promise<string> {
  return (await commands(command, ...args)).join('\n');
}

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-tenants-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A node with both doors and a register, and the flags that name it. */
async function start(directory = folder()) {
  const file = join(directory, 'tenants.json');
  const keyFile = join(directory, 'api-key');
  writeFileSync(keyFile, KEY);
  const tenants = new TenantsFile(file);
  const doors = await doorsForTest({ identity: IDENTITY, apiKey: KEY, tenants, gatewayPort: 0 });
  const broker = ['--url', doors.httpUrl, '--api-key-file', keyFile];
  return { directory, file, doors, broker };
}

/** The answer to a CONNECT with a token as password, at the node door. */
async function connect(url: string, password: string, clientId = 'ann-phone') {
  return await RawClient.connect(url, {
    clientId,
    username: 'x',
    password: Buffer.from(password),
    clean: true,
    properties: { sessionExpiryInterval: 3_600 },
  });
}

async function tokenOf(directory: string, name: string, key = `${name}.pem`, ...more: string[]) {
  return await run(
    token,
    ...['--key-file', join(directory, key), '--tenant', name, '--sub', 'ann'],
    ...['--publish', '#', '--subscribe', '#', ...more],
  );
}

describe('apus tenant, at a node', () => {
  it('creates a tenant with a key of its own, whose tokens are taken at both doors [SEC-TENANT-7]', async () => {
    const { directory, doors, broker } = await start();
    const key = join(directory, 'acme.pem');
    expect(await run(tenant, 'create', 'acme', '--new-key', key, ...broker)).toMatch(
      /^The tenant "acme" is there\. active; keys [0-9a-f]{8}$/,
    );
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(await run(tenant, 'show', 'acme', ...broker)).not.toContain('PRIVATE');
    const password = await tokenOf(directory, 'acme');
    expect((await connect(doors.url, password)).connack.reasonCode).toBe(0);
    const { connack } = await TextClient.connect(doors.gateway?.url ?? '', {
      clientId: 'ann-tablet',
      username: 'x',
      password: Buffer.from(password),
    });
    expect(connack?.reasonCode).toBe(0);
    const headers = { authorization: `Bearer ${KEY}`, 'apus-tenant': 'acme' };
    const listed = await (await fetch(new URL('/api/v5/clients', doors.httpUrl), { headers })).json();
    expect(listed).toMatchObject({ data: [{ clientid: 'ann-phone' }, { clientid: 'ann-tablet' }] });
  });

  it('lets a key sign only for its own tenant [SEC-TENANT-7]', async () => {
    const { directory, doors, broker } = await start();
    for (const name of ['acme', 'other'])
      await run(tenant, 'create', name, '--new-key', join(directory, `${name}.pem`), ...broker);
    for (const name of ['other', 'default', 'third']) {
      const forged = await tokenOf(directory, name, 'acme.pem');
      expect((await connect(doors.url, forged)).connack.reasonCode).toBe(0x86);
    }
  });

  it('suspends a tenant: its clients are disconnected with 0x87, others refused, and accepted when it is active again [SEC-TENANT-6]', async () => {
    const { directory, file, doors, broker } = await start();
    for (const name of ['acme', 'other'])
      await run(tenant, 'create', name, '--new-key', join(directory, `${name}.pem`), ...broker);
    const password = await tokenOf(directory, 'acme');
    const { client } = await connect(doors.url, password);
    const other = await connect(doors.url, await tokenOf(directory, 'other'));
    const text = await TextClient.connect(doors.gateway?.url ?? '', {
      clientId: 'ann-tablet',
      username: 'x',
      password: Buffer.from(password),
    });
    const said = await run(tenant, 'change', 'acme', '--state', 'suspended', '--reason', 'unpaid', ...broker);
    expect(said).toContain('suspended (unpaid)');
    expect(await client.expect('disconnect')).toMatchObject({
      reasonCode: 0x87,
      properties: { reasonString: 'this tenant is suspended' },
    });
    expect((await text.client.pushes.next()).packets).toMatchObject([
      { cmd: 'disconnect', reasonCode: 0x87 },
    ]);
    expect((await connect(doors.url, password)).connack.reasonCode).toBe(0x87);
    // Other tenants notice nothing, and the list of banned clients does not contain tenants.
    other.client.send({ cmd: 'pingreq' });
    await other.client.expect('pingresp');
    const headers = { authorization: `Bearer ${KEY}`, 'apus-tenant': 'acme' };
    const banned = await (await fetch(new URL('/api/v5/banned', doors.httpUrl), { headers })).json();
    expect(banned).toMatchObject({ data: [] });
    await fetch(new URL('/api/v5/banned', doors.httpUrl), { method: 'DELETE', headers });
    expect((await connect(doors.url, password)).connack.reasonCode).toBe(0x87);
    // A restart keeps it suspended.
    const again = await doorsForTest({ identity: IDENTITY, apiKey: KEY, tenants: new TenantsFile(file) });
    expect((await connect(again.url, password)).connack.reasonCode).toBe(0x87);
    expect(await run(tenant, 'change', 'acme', '--state', 'active', ...broker)).not.toContain('unpaid');
    const back = await connect(doors.url, password);
    expect(back.connack.reasonCode).toBe(0);
  });

  it('applies the quotas of a plan only to the clients of its tenant [SEC-TENANT-8]', async () => {
    const { directory, doors, broker } = await start();
    for (const name of ['acme', 'other'])
      await run(tenant, 'create', name, '--new-key', join(directory, `${name}.pem`), ...broker);
    const quotas = ['--quota', 'connectionsMax=1', '--quota', 'retainedMessagesMax=1'];
    expect(await run(tenant, 'change', 'acme', ...quotas, ...broker)).toContain(
      'quotas connectionsMax=1 retainedMessagesMax=1',
    );
    const { client } = await connect(doors.url, await tokenOf(directory, 'acme'));
    const second = await RawClient.open(doors.url);
    second.send({
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clean: true, keepalive: 0 },
      ...{ clientId: 'ann-tablet', username: 'x', password: Buffer.from(await tokenOf(directory, 'acme')) },
    });
    await second.expectClose();
    const retain = async (who: RawClient, topic: string) => {
      who.send({ cmd: 'publish', topic, payload: 'x', qos: 1, retain: true, messageId: 1 });
      return (await who.expect('puback')).reasonCode;
    };
    expect([await retain(client, 'a'), await retain(client, 'b')]).toEqual([NO_SUBSCRIBERS, 0x97]);
    const password = await tokenOf(directory, 'other');
    const other = await connect(doors.url, password);
    expect((await connect(doors.url, password, 'ann-tablet')).connack.reasonCode).toBe(0);
    expect([await retain(other.client, 'a'), await retain(other.client, 'b')]).toEqual([
      NO_SUBSCRIBERS,
      NO_SUBSCRIBERS,
    ]);
    await run(tenant, 'change', 'acme', '--no-quotas', ...broker);
    const third = await connect(doors.url, await tokenOf(directory, 'acme'), 'ann-tablet');
    expect(third.connack.reasonCode).toBe(0);
  });

  it('rotates the key of a tenant: both are accepted, then only the new one', async () => {
    const { directory, doors, broker } = await start();
    await run(tenant, 'create', 'acme', '--new-key', join(directory, 'one.pem'), '--kid', '1', ...broker);
    await run(tenant, 'change', 'acme', '--new-key', join(directory, 'two.pem'), '--kid', '2', ...broker);
    const [one, two] = [
      await tokenOf(directory, 'acme', 'one.pem', '--kid', '1'),
      await tokenOf(directory, 'acme', 'two.pem', '--kid', '2'),
    ];
    for (const password of [one, two])
      expect((await connect(doors.url, password)).connack.reasonCode).toBe(0);
    await run(tenant, 'change', 'acme', '--drop-key', '1', ...broker);
    expect((await connect(doors.url, one)).connack.reasonCode).toBe(0x86);
    expect((await connect(doors.url, two)).connack.reasonCode).toBe(0);
    await expect(run(tenant, 'change', 'acme', '--drop-key', '1', ...broker)).rejects.toThrow(CommandError);
  });

  it('removes a suspended tenant with its sessions and retained messages, and nothing of another', async () => {
    const { directory, file, doors, broker } = await start();
    for (const name of ['acme', 'other']) {
      await run(tenant, 'create', name, '--new-key', join(directory, `${name}.pem`), ...broker);
      const { client } = await connect(doors.url, await tokenOf(directory, name));
      client.send({ cmd: 'publish', topic: 'state', payload: 'x', qos: 1, retain: true, messageId: 1 });
      await client.expect('puback');
    }
    await expect(run(tenant, 'remove', 'acme', ...broker)).rejects.toThrow('is active: suspend it');
    await run(tenant, 'change', 'acme', '--state', 'suspended', ...broker);
    await run(tenant, 'remove', 'acme', ...broker);
    await expect(run(tenant, 'remove', 'acme', ...broker)).rejects.toThrow('There is no tenant "acme"');
    const statsOf = async (name: string) => {
      const headers = { authorization: `Bearer ${KEY}`, 'apus-tenant': name };
      const [stats] = (await (
        await fetch(new URL('/api/v5/stats', doors.httpUrl), { headers })
      ).json()) as Record<string, number>[];
      return [stats?.['sessions.count'], stats?.['retained.count']];
    };
    expect(await statsOf('acme')).toEqual([0, 0]);
    expect(await statsOf('other')).toEqual([1, 1]);
    expect((await connect(doors.url, await tokenOf(directory, 'acme'))).connack.reasonCode).toBe(0x86);
    expect(await run(tenant, 'list', ...broker)).toMatch(/^other {2}active; keys \w+$/);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ tenants: [{ name: 'other' }] });
  });

  it('does not touch clients with the owner’s own keys, whichever tenant their tokens name', async () => {
    const { doors, broker } = await start();
    await run(tenant, 'create', 'acme', '--quota', 'publishesPerSecondMax=1', ...broker);
    const secretFile = join(folder(), 'secret');
    writeFileSync(secretFile, SECRET);
    for (const name of ['acme', 'unregistered']) {
      const password = await run(
        token,
        ...['--secret-file', secretFile, '--tenant', name, '--sub', 'ann', '--publish', '#'],
      );
      expect((await connect(doors.url, password)).connack.reasonCode).toBe(0);
    }
  });

  it('reports what is wrong', async () => {
    const { broker } = await start();
    const refused = async (args: string[], sentence: string | RegExp) =>
      await expect(run(tenant, ...args, ...broker)).rejects.toThrow(sentence);
    await refused(['create', 'default'], 'that tenant is there by itself');
    await refused(['create', 'a b'], 'has to have up to 64 letters');
    await refused(['create', 'acme', '--quota', 'nothingMax=1'], 'There is no quota "nothingMax"');
    await refused(['create', 'acme', '--provider', '{"jwksUrl": "http://a"}'], 'issuer is missing');
    await refused(['create', 'acme', '--provider', '{'], UsageError as never);
    await refused(['show', 'acme'], 'There is no tenant "acme"');
    await run(tenant, 'create', 'acme', ...broker);
    await refused(['change', 'acme', '--state', 'gone'], '--state is one of');
    await refused(['create', 'acme'], 'There is a tenant of that name already.');
    await refused(['change', 'acme'], 'Nothing is to be changed');
    await refused(['list', '--quota', 'connectionsMax=1'], 'not for `apus tenant list`');
    await refused(['list', '--tenant', 'acme'], 'without --tenant');
  });

  it('reports that a node has no register', async () => {
    const { httpUrl } = await doorsForTest({});
    for (const args of [['list'], ['create', 'acme']])
      await expect(run(tenant, ...args, '--url', httpUrl)).rejects.toThrow('start it with --tenants FILE');
  });
});

describe('the file of tenants', () => {
  it.each([
    ['{', 'tenants.json: '],
    ['{"tenants": [{"name": "acme", "createdAt": "2026-01-01T00:00:00Z", "plans": {}}]}', 'no field "plans"'],
    [
      JSON.stringify({ tenants: Array(2).fill({ name: 'acme', createdAt: '2026-01-01T00:00:00Z' }) }),
      'the same name',
    ],
  ])('%s is refused at the start', (text, sentence) => {
    const path = join(folder(), 'tenants.json');
    writeFileSync(path, text);
    expect(() => new TenantsFile(path)).toThrow(sentence);
  });
});
