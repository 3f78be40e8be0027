// Builds the load test's command and its processes with nothing but Node.js 20 and esbuild, then runs the command.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildEngine } from './artillery-engine-mqtt/build.mjs';
import { buildLoadTest } from './build.mjs';

const dist = join(fileURLToPath(new URL('.', import.meta.url)), 'dist');
await Promise.all([buildLoadTest(dist), buildEngine()]);
process.argv = [process.execPath, join(dist, 'main.mjs'), ...process.argv.slice(2)];
await import(pathToFileURL(join(dist, 'main.mjs')).href);
