// Bundles TypeScript programs so that Node.js runs them, with nothing but esbuild: for benchmarks and the simulation.
import { fork } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import './aws-sdk.mjs';

const CACHE = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.cache/apus');

/**
 * For sources that ask for what lies beside them (`import.meta.url`): they find it as if they had not been bundled.
 *
 * @type {import('esbuild').Plugin}
 */
export const ownUrls = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: source.replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};

/**
 * Each program in one file, with all that it uses.
 *
 * @param {string} name of a folder of its own
 * @param {readonly string[]} entryPoints
 * @param {Pick<import('esbuild').BuildOptions, 'plugins' | 'external'>} more
 * @returns {Promise<string>} the folder: `measure.ts` is `measure.mjs` there
 */
export async function bundle(name, entryPoints, { plugins, external = [] } = {}) {
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
    external: ['bufferutil', 'utf-8-validate', ...external],
    ...(plugins && { plugins }),
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
