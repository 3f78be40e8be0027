import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningDoors, startDoors } from '@apus/cli';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildCommand } from '../support/build-command.ts';
import { inCi } from '../support/skips.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

// npm downloads and installs up to 100 MB for one package.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/**
 * The packages that are published for use outside; the packages to install beside each; the number of programs in its
 * README that the test runs, and their output.
 */
const PACKAGES = [
  { name: '@apus/client', folder: 'packages/client', beside: ['mqtt@5'], prints: 'greetings/hello world' },
  { name: '@apus/publish', folder: 'extensions/publish', beside: [], prints: 'id:' },
  {
    name: '@apus/react',
    folder: 'extensions/react',
    beside: ['mqtt@5', 'react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19'],
    prints: '<p>idle</p>',
  },
  {
    name: 'artillery-engine-mqtt',
    folder: 'loadtest/artillery-engine-mqtt',
    beside: [],
    prints: 'counter mqtt.messages_received 1',
  },
  {
    name: '@apus/infra',
    folder: 'infra',
    beside: ['aws-cdk-lib@2', 'constructs@10'],
    prints: 'The template is in ',
    programs: 2,
  },
] as const;

const STRICT = {
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
};

let node: RunningDoors;

beforeAll(async () => {
  node = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent' });
});

afterAll(async () => await node?.stop());

/** Downloads take minutes: the test runs only with `CI=true`. */
describe('a package in an empty folder', inCi, () => {
  it.each(PACKAGES)(
    '$name installs from its tarball, and its first examples run and type-check',
    async (each) => {
      const folder = mkdtempSync(join(tmpdir(), 'apus-package-'));
      try {
        await resolvesForOthers(await install(each, folder));
        expect(licensesIn(join(folder, 'node_modules', each.name))).toHaveLength(1);
        const examples = examplesOf(each.folder).slice(0, 'programs' in each ? each.programs : 1);
        for (const example of examples) {
          writeFileSync(join(folder, 'example.mjs'), example);
          const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: folder });
          expect(stdout).toContain(each.prints);
        }
        writeFileSync(join(folder, 'entries.mjs'), importsOf(each));
        await run(process.execPath, ['entries.mjs'], { cwd: folder });
        writeFileSync(join(folder, 'entries.cjs'), requiresOf(each));
        await run(process.execPath, [...AS_JEST, 'entries.cjs'], { cwd: folder });

        const files = examples.map((example, index) => {
          const file = `example${index}.mts`;
          writeFileSync(join(folder, file), `${example}\n${importsOf(each)}`);
          return file;
        });
        writeFileSync(join(folder, 'entries.cts'), requiresOf(each, 'import'));
        files.push('entries.cts');
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files }));
        expect(await typeErrorsOf(folder)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

/** The command, as `npm install -g` installs it. */
describe('the command in an empty folder', inCi, () => {
  let folder: string;
  let apus: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'apus-command-'));
    apus = join(folder, 'node_modules/.bin/apus');
    const tarball = await installFromTarball('@apus/cli', [], folder);
    await run('npx', ['publint', '--strict', tarball], { cwd: ROOT });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has its licence, the page and what it loads late, and neither the AWS SDK nor what is bundled', () => {
    expect(licensesIn(join(folder, 'node_modules/@apus/cli'))).toHaveLength(1);
    const installed = readdirSync(join(folder, 'node_modules'));
    expect(installed).toContain('lmdb');
    for (const absent of ['@aws-sdk', 'mqtt', 'ws']) expect(installed).not.toContain(absent);
    expect(readdirSync(join(folder, 'node_modules/@apus'))).toEqual(['cli']);
  });

  it('serves the page, and passes a message from `apus pub` to `apus sub`', async () => {
    const broker = spawn(apus, ['serve', '--port', '0', '--no-gateway', '--data', join(folder, 'data')]);
    onTestFinished(() => void broker.kill('SIGKILL'));
    const url = await urlOf(broker);
    const page = await fetch(url.replace('ws:', 'http:').replace(/mqtt$/, ''));
    const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1] ?? '';
    expect((await fetch(new URL(script, page.url))).headers.get('content-type')).toContain('javascript');

    const about = ['--url', url, '--topic', 'greetings/hello'];
    await run(apus, ['pub', ...about, '--message', 'world', '--retain']);
    expect(await run(apus, ['sub', ...about, '--count', '1'])).toMatchObject({ stdout: 'world\n' });
  });

  it('says which package a command for AWS needs', async () => {
    await expect(run(apus, ['clients', '--stack', 'x'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('`npm install -g @aws-sdk/client-lambda`'),
    });
  });
});

/** Where `apus serve` says that it takes clients. */
async function urlOf({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /^\s+MQTT\s+(\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('apus serve has ended');
}

/** Fails unless the tools of others find every entry and its types: as an ES module, in CommonJS, in a bundler. */
async function resolvesForOthers(tarball: string): Promise<void> {
  await run('npx', ['publint', '--strict', tarball], { cwd: ROOT });
  const attw = ['exec', '--yes', '--prefer-offline', '--package=@arethetypeswrong/cli@0.18.5', '--', 'attw'];
  await run('npm', [...attw, tarball, '--exclude-entrypoints', './testing'], { cwd: tmpdir() });
}

/** Packs the package, installs it in the folder, and returns its tarball. */
async function install({ name, beside }: (typeof PACKAGES)[number], folder: string): Promise<string> {
  return await installFromTarball(name, [...beside, 'typescript@6', '@types/node@20'], folder);
}

async function installFromTarball(name: string, beside: readonly string[], folder: string): Promise<string> {
  if (name === '@apus/cli') await packCommand(folder);
  else await run('npm', ['pack', '-w', name, '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await run('npm', ['install', '--prefer-offline', `./${tarball}`, ...beside], { cwd: folder });
  return join(folder, tarball);
}

/** Node.js without `require` of ES modules, which Jest does not have. */
const AS_JEST = ['--no-experimental-require-module'];

/** Every entry of the package, for its types and as a program. */
function importsOf(given: (typeof PACKAGES)[number]): string {
  return entriesOf(given)
    .map((entry) => `await import('${entry}');`)
    .join('\n');
}

/** The same from CommonJS. TypeScript takes `import … = require(…)`, and Node.js `const … = require(…)`. */
function requiresOf(given: (typeof PACKAGES)[number], keyword: 'const' | 'import' = 'const'): string {
  return entriesOf(given)
    .map((entry, index) => `${keyword} entry${index} = require('${entry}');\nconsole.log(entry${index});`)
    .join('\n');
}

function entriesOf({ name, folder }: (typeof PACKAGES)[number]): readonly string[] {
  const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
  const { exports = {} } = JSON.parse(text) as { exports?: Record<string, unknown> };
  return Object.entries(exports)
    .filter(([path, target]) => path !== './package.json' && !isForWorkspace(target))
    .map(([path]) => `${name}${path.slice(1)}`);
}

/** An export with a source alone, as `./testing`: other packages of the workspace read it, and the tarball lacks it. */
function isForWorkspace(target: unknown): boolean {
  return String(Object.keys(target ?? {})) === 'source';
}

/**
 * Errors in the example and in the declarations of Apus. Declarations of other packages have errors of their own under
 * these options.
 */
async function typeErrorsOf(folder: string): Promise<string[]> {
  const { stdout } = await run('npx', ['tsc', '--pretty', 'false'], { cwd: folder }).catch(
    (failure: { stdout: string }) => failure,
  );
  return stdout
    .split('\n')
    .filter((line) => /^(example|entries|error|node_modules\/(@apus|artillery-engine-mqtt)\/)/.test(line));
}

/** The license has to be distributed with the package. */
function licensesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(^|\/)LICENSE$/.test(path),
  );
}

/** The complete programs in a package's README, with the addresses of the broker that runs here. */
function examplesOf(folder: string): string[] {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  return [...readme.matchAll(/```[jt]s\n(.*?)```/gs)]
    .map(([, program = '']) => program)
    .filter((program, index) => index === 0 || program.startsWith('import '))
    .map((program) =>
      program
        .replace('ws://127.0.0.1:8083/mqtt', node.url)
        .replace('ws://127.0.0.1:8084/mqtt', node.gateway?.url ?? '')
        .replace('http://127.0.0.1:8083', new URL(node.url).origin.replace('ws:', 'http:')),
    );
}

/** Packs what the tests have built: `npm pack` there would build anew in `dist`, which `npm run cloudflare` reads. */
async function packCommand(folder: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'apus-packing-'));
  try {
    const own = join(ROOT, 'packages/cli');
    for (const file of ['package.json', 'apus.mjs', 'README.md']) cpSync(join(own, file), join(copy, file));
    cpSync(await buildCommand(), join(copy, 'dist'), { recursive: true });
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: copy });
  } finally {
    rmSync(copy, { recursive: true });
  }
}
