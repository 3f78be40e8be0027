// Runs a command of this folder with nothing but Node.js 20 and esbuild: `node run.mjs local.ts …`.
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const [entry = 'local.ts', ...rest] = process.argv.slice(2);
// The output is beside the source folders, so that files with relative paths are found from here as well.
const outfile = join(HERE, 'dist', `${basename(entry, '.ts')}.mjs`);

await build({
  entryPoints: [join(HERE, 'command', entry)],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['source'],
  // They find files beside their own.
  external: ['esbuild', 'workerd'],
  banner: {
    js: "import { createRequire as apusCreateRequire } from 'node:module';\nconst require = apusCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
process.argv = [process.execPath, outfile, ...rest];
await import(pathToFileURL(outfile).href);
