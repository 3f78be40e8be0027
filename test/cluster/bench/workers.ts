// Measures `apus serve --workers`: deliveries, and CPU of all of its processes, its engine among them.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CASES, WARM_UP } from '../../../loadtest/bench/cases.ts';
import { measureCase } from '../../../loadtest/bench/measure-case.ts';
import { spreadOf } from '../../../loadtest/bench/statistics.ts';
import { forkedWorker } from '../../../loadtest/src/generator/worker-handles.ts';
import { end, startMember, useOfTree } from './processes.ts';

const WORKER_PROCESS = join(fileURLToPath(new URL('.', import.meta.url)), 'worker-process.mjs');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    sizes: { type: 'string', default: '2' },
    cases: { type: 'string', default: 'pairs-qos1,topics-1000-qos0,topics-200-qos1' },
  },
});
const [path] = positionals;
if (path === undefined) {
  console.error(
    'node test/cluster/bench/run.mjs workers APUS_JS [--seconds 4] [--rounds 3] [--sizes 2] [--cases A,B]',
  );
  process.exit(2);
}
const cases = CASES.filter(({ name }) => values.cases.split(',').includes(name));
const variants = [
  { name: 'one process', flags: [] },
  ...values.sizes.split(',').map((size) => ({ name: `--workers ${size}`, flags: ['--workers', size] })),
];
const rates = new Map<
  string,
  { readonly perSecond: number; readonly perCpuSecond: number; readonly lost: number }[]
>();

for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const { name, flags } of variants) {
    const { child, url } = await startMember({ path }, flags);
    const run = {
      url,
      use: () => useOfTree(child.pid ?? 0),
      startWorker: () => forkedWorker(WORKER_PROCESS),
      workers: 1,
      scale: 1,
      stop: new AbortController().signal,
    };
    try {
      for (const warmUp of [...WARM_UP, ...WARM_UP]) await measureCase(warmUp, { ...run, seconds: 2 });
      for (const each of cases) {
        const sample = await measureCase(each, { ...run, seconds: Number(values.seconds) });
        const key = `${each.name} ${name}`;
        const { deliveriesPerSecond: perSecond, deliveriesPerCpuSecond: perCpuSecond = 0, lost } = sample;
        rates.set(key, [...(rates.get(key) ?? []), { perSecond, perCpuSecond, lost }]);
      }
    } finally {
      await end([child], 'SIGTERM');
    }
  }
  console.error(`round ${round} of ${values.rounds}`);
}

console.log('| load | processes | deliveries/s | deliveries per CPU second | least–most |');
console.log('|---|---|---:|---:|---:|');
for (const { name: load, title } of cases)
  for (const { name } of variants) {
    const all = rates.get(`${load} ${name}`) ?? [];
    const perSecond = spreadOf(all.map((each) => each.perSecond));
    const perCpu = spreadOf(all.map((each) => each.perCpuSecond));
    const lost = all.reduce((sum, each) => sum + each.lost, 0);
    console.log(
      `| ${title} | ${name} | ${whole(perSecond?.median)} | ${whole(perCpu?.median)} | ${whole(perCpu?.least)}–${whole(perCpu?.most)} |${lost > 0 ? ` ${lost} LOST` : ''}`,
    );
  }

function whole(value = Number.NaN): string {
  return Math.round(value).toLocaleString('en');
}
