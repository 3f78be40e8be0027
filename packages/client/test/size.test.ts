import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** Minified and gzipped; both READMEs say it too. mqtt.js itself has over 100,000. */
const BUDGET_BYTES = 11_000;

async function bundle(): Promise<{ code: Uint8Array; imports: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    minify: true,
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), imports };
}

test('the bundle for browsers stays within its budget and brings nothing with it', async () => {
  const { code, imports } = await bundle();
  expect(imports).toEqual([]);
  expect(code.length).toBeGreaterThan(10_000);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(BUDGET_BYTES);
});

test.each(['../README.md', '../../../README.md'])('%s promises that budget', (page) => {
  const text = readFileSync(new URL(page, import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`less than ${BUDGET_BYTES.toLocaleString('en')} bytes`, 'i'));
});
