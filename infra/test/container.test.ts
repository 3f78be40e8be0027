import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { connectAsync } from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Built } from '../../packages/cli/test/support/built.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(join(ROOT, 'infra/container/Dockerfile'), 'utf8');
/** Instructions, each on one line, without comments. */
const instructions = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '');

function jsonOf(instruction: string): string[] {
  const line = instructions.findLast((each) => each.includes(`${instruction} [`));
  return JSON.parse(line?.slice(line.indexOf(`${instruction} [`) + instruction.length) ?? '[]') as string[];
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'optionalDependencies' | 'peerDependencies',
    Readonly<Record<string, string>>
  >;
}

/** The exit code and the words of the health check. */
function health(url: string): Promise<{ code: number; stderr: string }> {
  const script = join(ROOT, 'infra/container/healthy.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [script], { env: { ...process.env, APUS_URL: url } }, (error, _, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stderr }),
    );
  });
}

/** A WebSocket that does not answer when it is closed. */
function silentClient(url: string): Promise<Duplex> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'mqtt',
  };
  return new Promise((resolve, reject) => {
    request(url.replace('ws:', 'http:'), { headers })
      .on('upgrade', (_, socket) => resolve(socket))
      .on('error', reject)
      .end();
  });
}

describe('the container', () => {
  const built = new Built();

  it('is built of existing files, on a Node.js that the packages support', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    const least = Number(/\d+/.exec(engines.node)?.[0]);
    for (const line of instructions.filter((each) => each.startsWith('FROM ')))
      expect(Number(/node:(\d+)-/.exec(line)?.[1])).toBeGreaterThanOrEqual(least);
    for (const line of instructions.filter((each) => each.startsWith('COPY '))) {
      const source = line.split(' ').find((word, index) => index > 0 && !word.startsWith('--')) ?? '';
      // The output of the build exists only after a build.
      const path = source.replace(/^\/app\//, '').replace(/\/dist$/, '');
      expect(existsSync(join(ROOT, path)), line).toBe(true);
    }
    expect(text).toContain('npm run build');
    expect(jsonOf('HEALTHCHECK --interval=10s --timeout=4s --start-period=60s --retries=3 CMD')).toEqual([
      'node',
      '/app/infra/container/healthy.mjs',
    ]);
  });

  it('has the packages that the command loads late', () => {
    const { dependencies } = manifestOf('infra/container');
    const { dependencies: late, optionalDependencies, peerDependencies } = manifestOf('packages/cli');
    expect(dependencies).toEqual({ ...late, ...optionalDependencies, ...peerDependencies });
    expect(text).toContain('npm ci --omit=dev --workspace infra/container');
  });

  it('starts the command of the build, which admits no client before its owner says which may connect', async () => {
    const [program, script] = jsonOf('ENTRYPOINT');
    expect([program, script]).toEqual(['node', '/app/packages/cli/dist/apus.js']);
    const data = mkdtempSync(join(tmpdir(), 'apus-'));
    onTestFinished(() => rmSync(data, { recursive: true }));
    const command = jsonOf('CMD').map((word) => (word === '/var/lib/apus' ? data : word));
    expect(command).toContain(data);
    const { code, stderr } = await built.run(command);
    expect(code).toBe(1);
    expect(stderr).toContain('it would ask no client for a password');
  });

  it('is healthy while it takes clients, and not while it stops or when it is gone', async () => {
    const serving = await built.serve(['--shutdown-timeout-seconds', '60']);
    expect(await health(serving.pageUrl)).toEqual({ code: 0, stderr: '' });
    const client = await connectAsync(serving.url, { protocolVersion: 5, reconnectPeriod: 0 });
    const told = new Promise<number | undefined>((resolve) =>
      client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    );
    const silent = await silentClient(serving.url);
    const ended = serving.stop();
    expect(await told).toBe(0x8b);
    // A client that does not go keeps the broker for a while.
    const stopping = await health(serving.pageUrl);
    expect(stopping).toEqual({ code: 1, stderr: expect.stringContaining('answers 503') });
    silent.destroy();
    const { code } = await ended;
    expect({ code, told: await told }).toEqual({ code: 0, told: 0x8b });
    const gone = await health(serving.pageUrl);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('does not answer');
  });
});
