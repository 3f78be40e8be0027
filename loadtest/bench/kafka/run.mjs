// Builds the measurement of Kafka through a node with nothing but Node.js and esbuild, then runs it.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildLoadTest } from '../../build.mjs';

const dist = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist');
await buildLoadTest(dist);
process.argv = [process.execPath, join(dist, 'kafka.mjs'), ...process.argv.slice(2)];
await import(pathToFileURL(join(dist, 'kafka.mjs')).href);
