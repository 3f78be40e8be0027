// Builds the engine in the form that Artillery loads: CommonJS, one file, whose module is the class itself.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { LICENSE } from '../../.ci/build-package.mjs';
import { writeTypes } from '../../.ci/write-types.mjs';

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
    // Dependencies of the published package are installed beside it; other modules are bundled.
    external: ['mqtt', 'ws', 'hdr-histogram-js'],
    footer: { js: 'module.exports = Object.assign(module.exports.MqttEngine, module.exports);' },
    logLevel: 'warning',
  });
}

/** The types of a CommonJS module that is the class itself. */
function writeEngineTypes() {
  const dist = join(HERE, 'dist');
  writeTypes(join(HERE, 'src', 'index.ts'), dist);
  // The declarations describe what `require` gives.
  writeFileSync(join(dist, 'types', 'package.json'), '{ "type": "commonjs" }\n');
  const [, entry = ''] = /'(.+)'/.exec(readFileSync(join(dist, 'index.d.ts'), 'utf8')) ?? [];
  writeFileSync(
    join(dist, 'index.d.cts'),
    `import engine = require('${entry}');
declare class MqttEngine extends engine.MqttEngine {}
declare namespace MqttEngine {
  export { MqttEngine };
  export import StepError = engine.StepError;
}
export = MqttEngine;
`,
  );
  rmSync(join(dist, 'index.d.ts'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildEngine();
  writeEngineTypes();
  copyFileSync(LICENSE, join(HERE, 'dist', 'LICENSE'));
}
