import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { deploy, destroy } from '../command/deployment.ts';
import { readConfiguration } from '../src/worker/configuration.ts';
import { newFolder } from './object/start-workerd.ts';

/** A strict `npx`: it knows the wrangler that the commands pin, and the calls that they make, and no others. */
const NPX = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs');
const [yes, version, ...call] = process.argv.slice(2);
const refuse = (why) => { console.error(why); process.exit(1); };
if (yes !== '--yes' || !/^wrangler@4\\.\\d+\\.\\d+$/.test(version)) refuse('not pinned');
const given = JSON.parse(readFileSync('wrangler.json', 'utf8'));
const known = ['name', 'main', 'no_bundle', 'compatibility_date', 'compatibility_flags', 'durable_objects', 'migrations',
  'observability', 'workers_dev', 'assets', 'vars'];
const unknown = Object.keys(given).find((name) => !known.includes(name));
if (unknown !== undefined) refuse('unknown field ' + unknown);
const secrets = call[2] === undefined || call[1] !== '--secrets-file' ? null : JSON.parse(readFileSync(call[2], 'utf8'));
const size = readFileSync('worker.js').length;
appendFileSync(process.env.FAKE_CALLS, JSON.stringify({ call, given, secrets, size }) + '\\n');
if (process.env.FAKE_FAILS === call[0]) refuse('no such account');
if (call.join(' ') === 'deploy --secrets-file secrets.json' || call.join(' ') === 'deploy')
  console.log('Deployed ' + given.name + ' triggers\\n  https://' + given.name + '.someone.workers.dev');
else if (call[0] !== 'delete' && call.join(' ') !== 'deploy --dry-run --outdir dry-run') refuse('unknown call');
`;

interface Call {
  readonly call: readonly string[];
  readonly given: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>> | null;
  readonly size: number;
}

/** Puts the strict `npx` first on the path. */
function fake(fails = '') {
  const folder = newFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npx'), NPX);
  chmodSync(join(bin, 'npx'), 0o755);
  vi.stubEnv('PATH', `${bin}${delimiter}${process.env.PATH}`);
  vi.stubEnv('FAKE_CALLS', join(folder, 'calls'));
  vi.stubEnv('FAKE_FAILS', fails);
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text) => void said.push(text));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    log.mockRestore();
    rmSync(folder, { recursive: true });
  });
  const calls = () =>
    readFileSync(join(folder, 'calls'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Call);
  return { data: join(folder, 'data'), calls, said };
}

const NODE = '22.12.0';

it('deploys one module with its hub and its secrets, and says where it is', async () => {
  const { data, calls, said } = fake();
  await deploy(['--data', data, '--name', 'my-broker'], NODE);
  const [{ call, given, secrets, size } = {} as Call, ...others] = calls();
  expect(others).toEqual([]);
  expect(call).toEqual(['deploy', '--secrets-file', 'secrets.json']);
  expect(given).toMatchObject({
    name: 'my-broker',
    no_bundle: true,
    compatibility_flags: ['nodejs_compat'],
    durable_objects: { bindings: [{ name: 'HUB', class_name: 'Hub' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Hub'] }],
  });
  expect(size).toBeGreaterThan(100_000);
  // The Worker itself reads what the command has written.
  const { identity, apiKey } = readConfiguration({ ...(given.vars as object), ...secrets });
  expect(identity?.members.map(({ source }) => source)).toEqual(['jwt']);
  expect(apiKey).toBe(readFileSync(join(data, 'api-key'), 'utf8'));
  expect(() => readConfiguration(given.vars as object)).toThrow('The secret IDENTITY is missing');
  expect(statSync(join(data, 'secrets.json')).mode & 0o077).toBe(0);
  expect(statSync(data).mode & 0o077).toBe(0);
  expect(said.join('\n')).toContain('wss://my-broker.someone.workers.dev/mqtt');
  expect(said.join('\n')).toContain(`npx apus token --secret-file ${join(data, 'token-secret')} --sub me`);
  for (const secret of Object.values(secrets ?? {})) expect(said.join('\n')).not.toContain(secret);
});

it('keeps the secrets at the next deployment', async () => {
  const { data, calls } = fake();
  await deploy(['--data', data], NODE);
  await deploy(['--data', data], NODE);
  const [first, second] = calls();
  expect(second?.secrets).toEqual(first?.secrets);
});

it('deletes the hubs before the Worker, and only if that is said', async () => {
  const { data, calls, said } = fake();
  await expect(destroy(['--data', data], NODE)).rejects.toThrow('--yes');
  await destroy(['--data', data, '--yes'], NODE);
  const [emptied, deleted] = calls();
  expect(emptied?.call).toEqual(['deploy']);
  expect(emptied?.given.migrations).toEqual([
    { tag: 'v1', new_sqlite_classes: ['Hub'] },
    { tag: 'v2', deleted_classes: ['Hub'] },
  ]);
  expect(emptied?.given).not.toHaveProperty('durable_objects');
  expect(deleted?.call).toEqual(['delete', 'apus', '--force']);
  expect(said.join('\n')).toContain('gone, with all that they kept');
});

it('says what is wrong', async () => {
  const { data } = fake('deploy');
  await expect(deploy(['--data', data], '20.20.2')).rejects.toThrow(
    'needs Node.js 22 or later; this is 20.20.2.',
  );
  await expect(deploy(['--data', data, '--name', 'A B'], NODE)).rejects.toThrow('--name has small letters');
  mkdirSync(data, { recursive: true });
  const file = join(data, 'given.json');
  for (const [flag, text, sentence] of [
    ['--identity', '{"authenticators": [{"jwt": {"keySetUrl": "x"}}]}', 'has no field "keySetUrl"'],
    ['--identity', '{"authenticators": [{"users": {"file": "none.json"}}]}', 'A file cannot be read'],
    ['--configuration', '{', 'given.json is no JSON.'],
    ['--configuration', '{"port": 1}', 'CONFIGURATION has no field "port".'],
  ] as const) {
    writeFileSync(file, text);
    await expect(deploy(['--data', data, flag, file], NODE)).rejects.toThrow(sentence);
  }
  await expect(deploy(['--nothing'], NODE)).rejects.toThrow("Unknown option '--nothing'");
  await expect(deploy(['--data', data], NODE)).rejects.toThrow('wrangler deploy has failed');
});
