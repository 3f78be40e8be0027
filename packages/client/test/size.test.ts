import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** Minified and gzipped bytes. Both READMEs state this number. mqtt.js itself has over 100,000. */
const BUDGET_BYTES = 12_000;

/** Bytes of the entry point for streams. */
const RESUME_BUDGET_BYTES = 3_000;

async function bundle(entry: string): Promise<{ code: Uint8Array; imports: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))],
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

test('the bundle for browsers stays within its budget and contains no other package', async () => {
  const { code, imports } = await bundle('index.ts');
  expect(imports).toEqual([]);
  expect(code.length).toBeGreaterThan(10_000);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(BUDGET_BYTES);
});

test('resume() is a separate bundle', async () => {
  const { code, imports } = await bundle('resume.ts');
  expect(imports).toEqual([]);
  expect(code.length).toBeGreaterThan(3_000);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(RESUME_BUDGET_BYTES);
  const own = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(own).toContain(`less than ${RESUME_BUDGET_BYTES.toLocaleString('en')} bytes more`);
});

test.each(['../README.md', '../../../README.md'])('%s states that budget', (page) => {
  const text = readFileSync(new URL(page, import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`less than ${BUDGET_BYTES.toLocaleString('en')} bytes`, 'i'));
});
