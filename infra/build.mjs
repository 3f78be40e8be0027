// Builds the package for use outside of this repository: the construct, its types, and the functions as they are deployed.
// It is CommonJS as the CDK is: ES modules import it, and Jest, which `cdk init` sets up, requires nothing else.
// Apart from `dist`, where programs of this folder run: `npm run deploy` bundles the functions of now.
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { LICENSE } from '../.ci/build-package.mjs';
import { writeTypes } from '../.ci/write-types.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ENTRY = join(HERE, 'lib', 'index.ts');
const OUT = join(HERE, 'dist', 'package');

rmSync(OUT, { recursive: true, force: true });
await build({
  entryPoints: [ENTRY],
  outfile: join(OUT, 'index.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  conditions: ['source'],
  external: ['aws-cdk-lib', 'constructs'],
  logLevel: 'warning',
});
writeTypes(ENTRY, OUT);
writeFileSync(join(OUT, 'package.json'), '{ "type": "commonjs" }\n');
copyFileSync(LICENSE, join(OUT, 'LICENSE'));
const functions = [join(HERE, 'run.mjs'), 'cli/write-functions.ts', join(OUT, 'packed-functions')];
execFileSync(process.execPath, functions, { stdio: 'inherit' });
