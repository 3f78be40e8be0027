import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningDoors, startDoors } from '@apus/cli';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

// npm downloads and installs up to 100 MB for one package.
vi.setConfig({ testTimeout: 600_000 });

/**
 * The packages that are published for use outside; the packages to install beside each; the number of programs in its
 * README that the test runs, and their output.
 */
const PACKAGES = [
  { name: '@apus/client', folder: 'packages/client', beside: ['mqtt@5'], prints: 'greetings/hello world' },
  { name: '@apus/publish', folder: 'packages/publish', beside: [], prints: 'id:' },
  {
    name: '@apus/react',
    folder: 'packages/react',
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
describe.skipIf(process.env.CI !== 'true')('a package in an empty folder', () => {
  it.each(PACKAGES)(
    '$name installs from its tarball, and its first examples run and type-check',
    async (each) => {
      const folder = mkdtempSync(join(tmpdir(), 'apus-package-'));
      try {
        await install(each, folder);
        expect(licensesIn(join(folder, 'node_modules', each.name))).toHaveLength(1);
        const examples = examplesOf(each.folder).slice(0, 'programs' in each ? each.programs : 1);
        for (const example of examples) {
          writeFileSync(join(folder, 'example.mjs'), example);
          const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: folder });
          expect(stdout).toContain(each.prints);
        }
        writeFileSync(join(folder, 'entries.mjs'), importsOf(each));
        await run(process.execPath, ['entries.mjs'], { cwd: folder });

        const files = examples.map((example, index) => {
          const file = `example${index}.mts`;
          writeFileSync(join(folder, file), `${example}\n${importsOf(each)}`);
          return file;
        });
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files }));
        expect(await typeErrorsOf(folder)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

async function install({ name, beside }: (typeof PACKAGES)[number], folder: string): Promise<void> {
  await run('npm', ['pack', '-w', name, '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const packages = [`./${tarball}`, ...beside, 'typescript@6', '@types/node@20'];
  await run('npm', ['install', '--prefer-offline', ...packages], { cwd: folder });
}

/** Every entry of the package, for its types and as a program. */
function importsOf({ name, folder }: (typeof PACKAGES)[number]): string {
  const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
  const { exports = {} } = JSON.parse(text) as { exports?: Record<string, unknown> };
  return Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => `await import('${name}${path.slice(1)}');`)
    .join('\n');
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
    .filter((line) => /^(example|error|node_modules\/(@apus|artillery-engine-mqtt)\/)/.test(line));
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
