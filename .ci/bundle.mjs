// Bundles TypeScript programs so that Node.js runs them, with nothing but esbuild: for benchmarks and the simulation.
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import './aws-sdk.mjs';

const CACHE = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.cache/apus');

/**
 * Each program in one file, with all that it uses.
 *
 * @param {string} name of a folder of its own
 * @param {readonly string[]} entryPoints
 * @returns {Promise<string>} the folder: `measure.ts` is `measure.mjs` there
 */
export async function bundle(name, entryPoints) {
  const outdir = join(CACHE, name);
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints: [...entryPoints],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Workspace packages are bundled from their sources.
    conditions: ['source'],
    // The native parts of `ws` are optional.
    external: ['bufferutil', 'utf-8-validate'],
    // Packages written for CommonJS find `require`.
    banner: {
      js: "import { createRequire as apusCreateRequire } from 'node:module';\nconst require = apusCreateRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return outdir;
}

/**
 * Runs such a program in a process of its own, with this process's arguments, and exits with the same code.
 *
 * @param {string} program
 * @param {Record<string, string>} environment variables in addition to this process's own
 */
export function run(program, environment = {}) {
  const options = { stdio: /** @type {const} */ ('inherit'), env: { ...process.env, ...environment } };
  fork(program, process.argv.slice(2), options).once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
