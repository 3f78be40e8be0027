import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { build as buildWithVite, type Rolldown } from 'vite';
import { expect, onTestFinished, test } from 'vitest';

/**
 * What a page of a user weighs more with the package, minified and gzipped. Both READMEs state this number. mqtt.js
 * itself has over 100,000.
 */
const BUDGET_BYTES = 13_500;

const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** Bytes of the entry point for streams. */
const RESUME_BUDGET_BYTES = 3_000;

/** Bytes of the entry point for proxies without WebSockets. */
const FALLBACK_BUDGET_BYTES = 5_000;

/** As `build.mjs` makes an entry of the package. */
async function packaged(name: string): Promise<{ code: string; imports: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    minify: true,
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { code: outputFiles[0]?.text ?? '', imports };
}

/** The pages of users that import these entries and nothing else, by two bundlers, each gzipped. */
async function bundled(...entries: readonly (readonly [entry: string, name: string])[]): Promise<number[]> {
  // Below node_modules, where bundlers find `ws`, which comes with mqtt.js.
  const root = mkdtempSync(join(MODULES, '.apus-size-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [entry] of entries) writeFileSync(join(root, `${entry}.js`), (await packaged(entry)).code);
  const main = join(root, 'main.js');
  const uses = entries.map(
    ([entry, name]) => `import { ${name} } from './${entry}.js'; globalThis.${name} = ${name};`,
  );
  writeFileSync(main, uses.join('\n'));
  const options = { bundle: true, minify: true, write: false, format: 'esm', platform: 'browser' } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [main] });
  const chunks = (await buildWithVite({
    root,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, modulePreload: false, rollupOptions: { input: main } },
  })) as Rolldown.RolldownOutput;
  const codes = [outputFiles[0]?.text ?? '', chunks.output[0].code];
  return codes.map((code) => gzipSync(code, { level: 9 }).length);
}

test('the package stays within its budget in a page of a user, and contains no other package', async () => {
  const { code, imports } = await packaged('index');
  expect(imports).toEqual([]);
  expect(code.length).toBeGreaterThan(10_000);
  expect(Math.max(...(await bundled(['index', 'connect'])))).toBeLessThan(BUDGET_BYTES);
});

test('resume() is a separate entry, within a budget of its own', async () => {
  const { code, imports } = await packaged('resume');
  expect(imports).toEqual([]);
  expect(code.length).toBeGreaterThan(3_000);
  const without = await bundled(['index', 'connect']);
  const withResume = await bundled(['index', 'connect'], ['resume', 'resume']);
  for (const [index, bytes] of withResume.entries())
    expect(bytes - (without[index] ?? 0)).toBeLessThan(RESUME_BUDGET_BYTES);
  const own = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(own).toContain(`less than ${RESUME_BUDGET_BYTES.toLocaleString('en')} bytes more`);
});

test('createFallback() is a separate entry, within a budget of its own', async () => {
  expect((await packaged('fallback')).imports).toEqual([]);
  const sizes = await bundled(['fallback', 'createFallback']);
  expect(Math.max(...sizes)).toBeLessThan(FALLBACK_BUDGET_BYTES);
  const own = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(own).toContain(`less than ${FALLBACK_BUDGET_BYTES.toLocaleString('en')} bytes`);
});

test.each(['../README.md', '../../../README.md'])('%s states that budget', (page) => {
  const text = readFileSync(new URL(page, import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`less than ${BUDGET_BYTES.toLocaleString('en')} bytes`, 'i'));
});
