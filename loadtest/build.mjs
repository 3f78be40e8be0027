// Builds what `npm run loadtest` and `npm run bench` run: the commands, and the program of the fast generator's processes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {string} dist a folder of this one, since the scenarios are found from there
 * @param {Record<string, string>} others more programs over the generator, by name and source
 */
export async function buildLoadTest(dist, others = {}) {
  await build({
    entryPoints: {
      main: join(HERE, 'src', 'cli', 'main.ts'),
      bench: join(HERE, 'bench', 'main.ts'),
      kafka: join(HERE, 'bench', 'kafka', 'main.ts'),
      'kafka-readers': join(HERE, 'bench', 'kafka', 'readers.ts'),
      'worker-process': join(HERE, 'src', 'generator', 'worker-process.ts'),
      ...others,
    },
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'linked',
    // Workspace packages are bundled from their sources; third-party packages are not bundled.
    conditions: ['source'],
    plugins: [{ name: 'ours-only', setup: keepOthersOut }],
    logLevel: 'warning',
  });
}

/** @param {import('esbuild').PluginBuild} building */
function keepOthersOut(building) {
  building.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@apus/') ? undefined : { path, external: true },
  );
}
