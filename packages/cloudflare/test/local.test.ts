import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { hashPassword, mintToken } from '@apus/identity';
import mqtt from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import { needsWorkerd, newFolder } from './object/start-workerd.ts';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));

interface Command {
  readonly child: ChildProcess;
  readonly folder: string;
  /** `ws://127.0.0.1:PORT` */
  readonly base: string;
  /** What it has printed. */
  readonly lines: readonly string[];
}

/** `npm run cloudflare -- …`, until it says that it can be stopped. */
async function start(folder: string, ...args: readonly string[]): Promise<Command> {
  const all = [RUN, 'local.ts', '--port', '0', '--data', folder, ...args];
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGINT'));
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout as Readable)) {
    lines.push(line);
    if (line.startsWith('Stop it')) break;
  }
  const [, base = ''] = /(ws:\/\/\S+)\/mqtt/.exec(lines.join('\n')) ?? [];
  return { child, folder, base, lines };
}

async function stop({ child }: Command): Promise<unknown> {
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  const [code] = await exited;
  return code;
}

function folderOfTest(): string {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('says what it takes, with nothing started', needsWorkerd, async () => {
  const child = spawn(process.execPath, [RUN, 'local.ts', '--help'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const text = (await (child.stdout as Readable).toArray()).join('');
  expect(text).toContain('--tokens');
  const wrong = spawn(process.execPath, [RUN, 'local.ts', '--port', 'no'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const error = (await (wrong.stderr as Readable).toArray()).join('');
  expect(error).toBe('--port is a whole number from 0 to 65535, not "no".\n');
});

it(
  'serves stock mqtt.js, keeps what was retained over a restart, and ends with code 0',
  needsWorkerd,
  async () => {
    const folder = folderOfTest();
    const first = await start(folder);
    const client = await mqtt.connectAsync(`${first.base}/mqtt`, { protocolVersion: 5, reconnectPeriod: 0 });
    await client.publishAsync('state', 'kept', { qos: 1, retain: true });
    expect(await stop(first)).toBe(0);
    await client.endAsync(true);
    const second = await start(folder);
    const again = await mqtt.connectAsync(`${second.base}/mqtt`, { reconnectPeriod: 0 });
    const retained = new Promise<string>((resolve) =>
      again.once('message', (_, payload) => resolve(String(payload))),
    );
    await again.subscribeAsync('#', { qos: 1 });
    expect(await retained).toBe('kept');
    await again.endAsync(true);
    const key = readFileSync(join(folder, 'api-key'), 'utf8');
    const url = `${second.base.replace('ws:', 'http:')}/api/v5/stats`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    expect(await stop(second)).toBe(0);
  },
);

it('asks for tokens where it is told to, whose secret only its owner can read', needsWorkerd, async () => {
  const running = await start(folderOfTest(), '--tokens');
  const file = join(running.folder, 'token-secret');
  expect(running.lines.join('\n')).toContain(`npx apus token --secret-file ${file} --sub me`);
  expect(statSync(file).mode & 0o077).toBe(0);
  const options = { reconnectPeriod: 0, protocolVersion: 5 } as const;
  await expect(mqtt.connectAsync(`${running.base}/mqtt`, options)).rejects.toThrow('Not authorized');
  const claims = { sub: 'me', publish: ['#'], subscribe: ['#'], expiresInSeconds: 60, nowMs: Date.now() };
  const token = await mintToken(Buffer.from(readFileSync(file, 'utf8')), claims);
  const client = await mqtt.connectAsync(`${running.base}/mqtt?token=${token}`, options);
  await client.endAsync();
});

it('lets a user in at the URL of its own tenant alone [SEC-TENANT-10]', needsWorkerd, async () => {
  const folder = folderOfTest();
  const password = await hashPassword(Buffer.from('right'));
  const user = { name: 'bob', password, publish: ['#'], subscribe: ['#'] };
  writeFileSync(join(folder, 'users.json'), JSON.stringify({ users: [user] }));
  const users = { file: join(folder, 'users.json'), tenant: 'acme' };
  writeFileSync(join(folder, 'identity.json'), JSON.stringify({ authenticators: [{ users }] }));
  const { base } = await start(folder, '--identity', join(folder, 'identity.json'));
  const connect = async (path: string, shown: string) =>
    await mqtt.connectAsync(`${base}${path}`, {
      ...{ username: 'bob', password: shown, protocolVersion: 5, reconnectPeriod: 0 },
    });
  await (await connect('/acme/mqtt', 'right')).endAsync();
  await expect(connect('/acme/mqtt', 'wrong')).rejects.toThrow('Bad User Name or Password');
  await expect(connect('/mqtt', 'right')).rejects.toThrow('Not authorized');
});
