import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rulesOfLists } from '@apus/broker';
import { runInThisProcess, startOperatorServices } from '@apus/cli/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startFunctionUrl } from '../support/function-url.ts';
import { KEY, KEYS } from './api-caller.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let world: InProcessWorld;
let ann: Program;

beforeAll(async () => {
  world = await startCloudInProcess({
    ...{ seed: 4, streams: [{ name: 'chat', topicFilter: 'chat/#' }], presence: true, usage: true },
    authenticator: {
      authenticate: ({ username: tenant = 'default' }) => ({
        ...{ tenant, name: 'ann', tokenId: 't-1', clientIds: ['+'] },
        rules: rulesOfLists(['#', '$presence/#'], ['#']),
      }),
    },
  });
  ann = new Program(world.emulator, 'phone', { username: 'acme' });
  await ann.mqtt.publishAsync('chat/a', 'said', { qos: 1 });
  await ann.mqtt.publishAsync('$presence/room/ann', 'here', { qos: 1 });
});

afterAll(async () => {
  await ann.mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

/** Through the operator's function, with AWS credentials. */
async function throughStack(): Promise<readonly string[]> {
  await startOperatorServices({
    ...{ stack: 'apus', functionName: 'apus-Operator-1' },
    answer: (event) => world.operatorFunction()(event as never, { getRemainingTimeInMillis: () => 840_000 }),
  });
  return ['--stack', 'apus'];
}

/** Through the URL of the HTTP API, with its key. */
async function throughUrl(): Promise<readonly string[]> {
  const { url, stop } = await startFunctionUrl(world.apiFunction({ keysSha256: KEYS }));
  const keyFile = join(mkdtempSync(join(tmpdir(), 'apus-key-')), 'key');
  writeFileSync(keyFile, KEY);
  onTestFinished(async () => {
    await stop();
    rmSync(dirname(keyFile), { recursive: true });
  });
  return ['--url', url, '--api-key-file', keyFile];
}

let broker: readonly string[];

async function apus(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runInThisProcess([...args, ...broker]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

const ofAcme = (...args: readonly string[]) => apus(...args, '--tenant', 'acme');

describe.each([
  ['--stack', throughStack],
  ['--url', throughUrl],
])('a deployment, operated with `apus … %s`', (_flag, start) => {
  beforeEach(async () => {
    broker = await start();
  });

  it('lists clients, rooms, streams and their messages, of one tenant', async () => {
    expect(await ofAcme('clients')).toMatch(/^phone {2}ann {2}token t-1 {2}connected since 20.*\n$/);
    expect(await apus('clients')).toBe('');
    expect(await ofAcme('presence', 'room')).toMatch(/^ann {2}.* {2}phone {2}here\n$/);
    expect(await ofAcme('stream', 'list')).toMatch(/^chat {2}chat\/# {2}1 messages of 1 topics, /);
    expect(await ofAcme('stream', 'messages', 'chat', '--topic', 'chat/a')).toMatch(/ {2}chat\/a {2}said\n$/);
  });

  it('bans clients, and kicks one, which comes back', async () => {
    expect(await ofAcme('ban', '--user', 'eve', '--reason', 'spam')).toBe(
      'Banned: username "eve", until it is taken back. Clients that were ended: 0.\n',
    );
    expect(await ofAcme('bans')).toBe('username  eve  spam\n');
    expect(await ofAcme('unban', '--user', 'eve')).toContain('has been taken back');
    expect(await ofAcme('bans')).toBe('');
    const { mqtt } = new Program(world.emulator, 'bob', { username: 'others' });
    const connected = () => new Promise((resolve) => mqtt.once('connect', resolve));
    await connected();
    const disconnect = new Promise((resolve) => mqtt.once('disconnect', resolve));
    const sentence = 'The connection of "bob" has been ended.\n';
    expect(await apus('kick', 'bob', '--tenant', 'others')).toBe(sentence);
    expect(await disconnect).toMatchObject({ reasonCode: 0x98 });
    await connected();
    await mqtt.endAsync();
    const nobody = await runInThisProcess(['kick', 'nobody', ...broker]);
    expect(nobody).toMatchObject({ code: 1, stderr: 'apus: No client "nobody" is connected.\n' });
  });

  it('keeps the register of tenants, and reports usage', async () => {
    await apus('tenant', 'create', 'globex', '--quota', 'connectionsMax=5');
    expect(await apus('tenant', 'list')).toBe('globex  active; quotas connectionsMax=5\n');
    const suspended = await apus('tenant', 'change', 'globex', '--state', 'suspended');
    expect(suspended).toContain('suspended; quotas connectionsMax=5\nClients that were ended: 0.\n');
    expect(await apus('tenant', 'remove', 'globex')).toContain('is gone');
    expect(await apus('usage', '--from', '2026-11', '--to', '2026-12', '--by', 'month')).toMatch(
      /^From 2026-11-01T00 to 2026-12-01T00, UTC:\n/,
    );
  });
});
