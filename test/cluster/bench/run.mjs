// Builds and runs a measurement of clusters: `node test/cluster/bench/run.mjs price|workers|many|connects|publisher [FLAGS]`.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildLoadTest } from '../../../loadtest/build.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PROGRAMS = ['price', 'workers', 'many', 'connects', 'publisher'];

const [program, ...args] = process.argv.slice(2);
if (!PROGRAMS.includes(program)) {
  console.error(`Say what to measure: ${PROGRAMS.join(', ')}.`);
  process.exit(2);
}
const dist = join(HERE, '..', '..', '..', 'loadtest', 'dist');
await buildLoadTest(dist, {
  [`cluster-${program}`]: join(HERE, `${program}.ts`),
  'cluster-hold': join(HERE, 'hold.ts'),
});
process.argv = [process.execPath, join(dist, `cluster-${program}.mjs`), ...args];
await import(pathToFileURL(join(dist, `cluster-${program}.mjs`)).href);
