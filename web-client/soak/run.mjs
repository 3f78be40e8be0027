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
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'warning',
});
process.argv = [process.execPath, join(HERE, 'dist', `${program}.mjs`), ...flags];
await import(pathToFileURL(join(HERE, 'dist', `${program}.mjs`)).href);
