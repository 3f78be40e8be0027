// Builds the engine as Artillery loads it: CommonJS, one file, whose module is the class itself.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} outfile */
export async function buildEngine(outfile = join(HERE, 'dist', 'index.cjs')) {
  await build({
    entryPoints: [join(HERE, 'src', 'index.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'linked',
    conditions: ['source'],
    // What the published package depends on is installed beside it; the rest is within.
    external: ['mqtt', 'ws', 'hdr-histogram-js'],
    footer: { js: 'module.exports = Object.assign(module.exports.MqttEngine, module.exports);' },
    logLevel: 'warning',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildEngine();
