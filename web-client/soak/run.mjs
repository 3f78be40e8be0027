// Runs a TypeScript program of src/ with nothing but Node.js 20 and esbuild: `node soak/run.mjs stream …`.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const [program = 'stream', ...flags] = process.argv.slice(2);

await build({
  // The generator is a process of its own.
  entryPoints: [program, 'generator'].map((name) => join(HERE, 'src', `${name}.ts`)),
  outdir: join(HERE, 'dist'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['source'],
  // Packages of others stay where they are: Playwright reads files beside its own.
  plugins: [{ name: 'ours-only', setup: keepOthersOut }],
  logLevel: 'warning',
});
process.argv = [process.execPath, join(HERE, 'dist', `${program}.mjs`), ...flags];
await import(pathToFileURL(join(HERE, 'dist', `${program}.mjs`)).href);

/** @param {import('esbuild').PluginBuild} building */
function keepOthersOut(building) {
  building.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@apus/') ? undefined : { path, external: true },
  );
}
