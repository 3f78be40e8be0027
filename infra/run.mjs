// Runs a TypeScript program of this folder with nothing but Node.js 20 and esbuild: `node run.mjs app.ts …`.
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import '../.ci/aws-sdk.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const [entry = 'app.ts', ...rest] = process.argv.slice(2);
// The output is beside the source folders, so that files with relative paths are found from here as well.
const outfile = join(HERE, 'dist', `${basename(entry, '.ts')}.mjs`);

await build({
  entryPoints: [join(HERE, entry)],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['source'],
  // Third-party packages are not bundled: CDK reads files beside its own.
  plugins: [{ name: 'ours-only', setup: keepOthersOut }],
  logLevel: 'warning',
});
process.argv = [process.execPath, outfile, ...rest];
await import(pathToFileURL(outfile).href);

/** @param {import('esbuild').PluginBuild} building */
function keepOthersOut(building) {
  building.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@apus/') ? undefined : { path, external: true },
  );
}
