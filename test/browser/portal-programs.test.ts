import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import ts from 'typescript';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { pythonOrSkip } from '../support/python-or-skip.ts';
import { cases } from '../support/runs.ts';
import { needs } from '../support/skips.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import { codeOf, EXAMPLE_FLAGS, portalUrl } from './support/portal-page.ts';
import type { Served } from './support/served-client.ts';

const SECRET = 'a secret of at least thirty-two bytes';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Programs in this folder find the packages of this repository. */
const FOLDERS = join(ROOT, 'test', 'artefacts', 'pasted');
const PAYLOAD = '{"celsius":21.5,"at":"2026-11-26T12:00:00Z","quality":"good"}';
const LINE = `sensors/s-17/temperature ${PAYLOAD}`;
const BROKERS = ['open', 'guarded'] as const;
const python = pythonOrSkip();

clientSuite('the programs on the page for developers, pasted', (suite) => {
  const served = {} as Record<(typeof BROKERS)[number], Served>;
  let token: string;
  let folder: string;
  let commands: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    await mkdir(FOLDERS, { recursive: true });
    folder = await mkdtemp(join(FOLDERS, 'programs-'));
    const identity = join(folder, 'identity.json');
    await writeFile(identity, JSON.stringify({ authenticators: [{ jwt: { secret: SECRET } }] }));
    served.open = await suite.built.serve(EXAMPLE_FLAGS);
    served.guarded = await suite.built.serve([...EXAMPLE_FLAGS, '--identity', identity]);
    token = await new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(SECRET));
    commands = await commandsFolder();
    environment = {
      ...process.env,
      APUS_PASSWORD: token,
      PATH: `${commands}${delimiter}${process.env.PATH}`,
    };
  });

  afterAll(async () => {
    for (const broker of BROKERS) await served[broker]?.stop();
    for (const path of [folder, commands]) await rm(path, { recursive: true, force: true });
  });

  /** A folder with an `npx` that runs the command of mqtt.js. */
  async function commandsFolder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'apus-npx-'));
    const npx = join(path, 'npx');
    const command = join(ROOT, 'node_modules', 'mqtt', 'build', 'bin', 'mqtt.js');
    await writeFile(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${command}" "$@"\n`);
    await chmod(npx, 0o755);
    return path;
  }

  /** The programs of a language as the page shows them, with history: they run one after another. */
  async function programsOf(broker: (typeof BROKERS)[number], door: string, language: string): Promise<Page> {
    const client = await suite.openUrl(portalUrl(served[broker].pageUrl, 'sensors/{sensor}/temperature'));
    const { page } = client;
    if (broker === 'guarded') {
      await page.getByLabel('Token or password').fill(token);
      await page.getByRole('button', { name: 'Show the topics' }).click();
    }
    await page.getByLabel('Begin').selectOption({ label: 'with the last 50 messages of each topic' });
    await page.getByLabel('Server').selectOption(door);
    await page.getByLabel(language, { exact: true }).check();
    client.complaints.length = 0;
    return page;
  }

  async function textOf(page: Page, name: string): Promise<string> {
    return (await codeOf(page, name).textContent()) ?? '';
  }

  /** Runs a program to its end. */
  async function run(program: string, args: readonly string[], env = environment): Promise<string> {
    return (await promisify(execFile)(program, args, { cwd: folder, env, timeout: 60_000 })).stdout;
  }

  /** The first line that a running program prints. */
  async function firstLineOf(program: string, args: readonly string[], env = environment): Promise<string> {
    const child = spawn(program, args, {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout })) return line;
    throw new Error('the program has ended without a line');
  }

  async function save(name: string, code: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, code);
    return path;
  }

  /** `@apus/client` is not installed here. The bundler takes it from its sources. */
  async function withTransport(path: string): Promise<string> {
    const outfile = path.replace('.mjs', '-bundle.mjs');
    const common = { bundle: true, platform: 'node', format: 'esm' } as const;
    await bundle({
      ...common,
      conditions: ['source'],
      entryPoints: [path],
      outfile,
      external: ['mqtt', 'ws'],
    });
    return outfile;
  }

  describe.each(cases<(typeof BROKERS)[number]>(['guarded'], ['open']))(
    'at a broker that is %s',
    (broker) => {
      it('JavaScript, in Node.js', async () => {
        const page = await programsOf(broker, 'node', 'JavaScript');
        await run(process.execPath, [await save('publish.mjs', await textOf(page, 'publish.mjs'))]);
        const receive = await save('receive.mjs', await textOf(page, 'receive.mjs'));
        expect(await firstLineOf(process.execPath, [receive])).toBe(LINE);
      });

      it('JavaScript through the Apus transport, at the gateway door', async () => {
        const page = await programsOf(broker, 'gateway', 'JavaScript');
        const code = await textOf(page, 'publish.mjs');
        expect(code).toContain("from '@apus/client'");
        await run(process.execPath, [await withTransport(await save('publish.mjs', code))]);
        const receive = await withTransport(await save('receive.mjs', await textOf(page, 'receive.mjs')));
        expect(await firstLineOf(process.execPath, [receive])).toBe(LINE);
      });

      it('Python, with paho-mqtt', needs('python', python), async () => {
        const page = await programsOf(broker, 'node', 'Python');
        const published = await run(python ?? '', [
          await save('publish.py', await textOf(page, 'publish.py')),
        ]);
        expect(published).toMatch(/^(Success|No matching subscribers) *\n$/);
        const receive = await save('receive.py', await textOf(page, 'receive.py'));
        expect(await firstLineOf(python ?? '', [receive])).toBe(LINE);
      });

      it('the command line, which begins with now', async () => {
        const page = await programsOf(broker, 'node', 'Command line');
        await page.getByText('The command of mqtt.js begins with now.').waitFor();
        const publish = await textOf(page, 'Publish');
        const line = firstLineOf('bash', ['-c', `exec ${await textOf(page, 'Receive')}`]);
        // Nothing says when the receiver has subscribed.
        await eventually(async () => {
          await run('bash', ['-c', publish]);
          return await Promise.race([line, undefined]);
        }).toBe(LINE);
      });

      it('the packages of Apus are beside the page, for npm to install', async () => {
        const page = await programsOf(broker, 'gateway', 'React');
        const urls = (await textOf(page, 'Install')).match(/http\S+\.tgz/g) ?? [];
        for (const url of urls) {
          const response = await fetch(url);
          expect(response.headers.get('content-type')).toBe('application/gzip');
          const files = gunzipSync(await response.arrayBuffer()).toString('latin1');
          expect(files).toContain(`"name": "@apus/${/apus-(\w+)/.exec(url)?.[1]}"`);
          expect(files).toContain('package/dist/index.d.ts');
        }
        expect(urls.map((url) => basename(url))).toEqual(['apus-react-0.1.0.tgz', 'apus-client-0.1.0.tgz']);
      });

      it.each(['node', 'gateway'])('React, at the %s door', async (door) => {
        const page = await programsOf(broker, door, 'React');
        const programs = new Map<string, string>();
        for (const name of ['Received', 'Publish']) {
          const code = await textOf(page, `${name}.tsx`);
          programs.set(name, code.replace('YOUR-TOKEN', token));
        }
        await page.goto(await siteOf(programs));
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await eventually(() => page.getByRole('status').textContent()).toBe('Published');
        await eventually(() => page.getByRole('listitem').last().textContent()).toBe(LINE);
      });
    },
  );

  it('Python says why the broker refuses a payload', needs('python', python), async () => {
    const page = await programsOf('open', 'node', 'Python');
    const code = (await textOf(page, 'publish.py')).replace('21.5', '"hot"');
    const printed = await run(python ?? '', [await save('refused.py', code)]);
    expect(printed).toContain('Payload format invalid /celsius must be number');
  });

  /** A page with both components. Their types have to fit. */
  async function siteOf(programs: ReadonlyMap<string, string>): Promise<string> {
    const root = await mkdtemp(join(folder, 'react-'));
    const files = [...programs].map(([name, code]) => [join(root, `${name}.tsx`), code] as const);
    for (const [path, code] of files) await writeFile(path, code);
    expect(typeErrorsIn(files.map(([path]) => path))).toEqual([]);
    const imports = [...programs.keys()].map((name) => `import { App as ${name} } from './${name}.tsx';`);
    const main = `import { createElement as h } from 'react';
      import { createRoot } from 'react-dom/client';
      ${imports.join('\n')}
      createRoot(document.getElementById('root')).render([${[...programs.keys()].map((name) => `h(${name}, { key: '${name}' })`)}]);`;
    await writeFile(join(root, 'main.ts'), main);
    await writeFile(
      join(root, 'index.html'),
      '<title>x</title><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="./main.ts"></script>',
    );
    const outDir = join(root, 'dist');
    const common = { root, configFile: false, logLevel: 'error' } as const;
    const conditions = ['source', 'browser', 'module', 'import', 'default'];
    await build({ ...common, resolve: { conditions }, build: { outDir } });
    const site = await preview({ ...common, build: { outDir }, preview: { host: '127.0.0.1', port: 0 } });
    onTestFinished(() => site.close());
    return site.resolvedUrls?.local[0] ?? '';
  }
});

function typeErrorsIn(paths: readonly string[]): string[] {
  const program = ts.createProgram(paths, {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    customConditions: ['source'],
    types: ['node'],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}
