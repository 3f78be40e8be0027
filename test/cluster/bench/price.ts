// Measures the price of the bus: CPU for each delivery of a cluster beside processes that know nothing of each other.
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { spreadOf } from '../../../loadtest/bench/statistics.ts';
import { runFast } from '../../../loadtest/src/generator/run-fast.ts';
import { forkedWorker } from '../../../loadtest/src/generator/worker-handles.ts';
import { outcomeOf } from '../../../loadtest/src/report/outcome.ts';
import { LOADS, type Load, scenarioOf, WARM_UPS } from './loads.ts';
import {
  type Command,
  cpuSecondsOf,
  end,
  endEngine,
  type Member,
  startEngine,
  startMember,
} from './processes.ts';

const WORKER_PROCESS = join(fileURLToPath(new URL('.', import.meta.url)), 'worker-process.mjs');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    sizes: { type: 'string', default: '2,4' },
    loads: { type: 'string' },
    node: { type: 'string', default: '' },
  },
});
if (positionals.length === 0) {
  console.error(
    'node test/cluster/bench/run.mjs price APUS_JS [BEFORE_JS] [--seconds 8] [--rounds 3] [--sizes 2,4] [--loads A,B] [--node FLAGS]',
  );
  process.exit(2);
}
const nodeFlags = values.node.split(' ').filter((flag) => flag !== '');
/** The arrangement to measure, and the one to compare it with. */
const [command, before] = positionals.map((path) => ({ path, nodeFlags }));
const sizes = values.sizes.split(',').map(Number);
const wanted = values.loads?.split(',');
const loads = LOADS.filter(({ name }) => wanted === undefined || wanted.includes(name));

/** Processes with an engine, or without one: then each has its own part of the load. */
interface Variant {
  readonly name: string;
  readonly size: number;
  readonly isCluster: boolean;
  readonly command: Command | undefined;
}

interface Sample {
  readonly members: number;
  readonly engine: number;
  readonly lost: number;
}

const variants: readonly Variant[] = [
  { name: 'one process', size: 1, isCluster: false, command },
  ...sizes.flatMap((size) => [
    { name: `${size} by themselves`, size, isCluster: false, command },
    { name: `cluster of ${size}`, size, isCluster: true, command },
    ...(before === undefined
      ? []
      : [{ name: `cluster of ${size}, before`, size, isCluster: true, command: before }]),
  ]),
];
const samples = new Map<string, Sample[]>();

for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const variant of variants) await measure(variant);
  console.error(`round ${round} of ${values.rounds}`);
}
report();

async function measure({ name, size, isCluster, command }: Variant): Promise<void> {
  if (command === undefined) return;
  const engine = isCluster ? await startEngine() : undefined;
  const flags = engine === undefined ? [] : ['--cluster', engine.url];
  const members: Member[] = [];
  try {
    for (let count = 0; count < size; count += 1) members.push(await startMember(command, flags));
    const urls = members.map(({ url }) => url);
    const use = () => ({
      members: cpuSecondsOf(members.map(({ child }) => child)),
      engine: engine === undefined ? 0 : cpuSecondsOf([engine.child]),
    });
    const parts = isCluster ? 1 : size;
    for (const load of WARM_UPS) await run(load, urls, parts, 3, use);
    for (const load of loads) {
      const sample = await run(load, urls, parts, Number(values.seconds), use);
      const key = `${load.name} ${name}`;
      samples.set(key, [...(samples.get(key) ?? []), sample]);
    }
  } finally {
    await end(
      members.map(({ child }) => child),
      'SIGTERM',
    );
    if (engine !== undefined) await endEngine(engine);
  }
}

async function run(
  load: Load,
  urls: readonly string[],
  parts: number,
  seconds: number,
  use: () => { members: number; engine: number },
): Promise<Sample> {
  let before = use();
  let after = before;
  let received = 0;
  let isConnected = false;
  const { ledgers } = await runFast({
    assignment: {
      scenario: scenarioOf(load, parts),
      size: { scale: 1, seconds, part: { number: 1, of: 1 } },
      urls,
      door: 'node',
      workers: 1,
      firstWorker: 0,
      runTag: randomInt(0x10000),
      clock: 'monotonic',
      credentials: {},
    },
    startWorker: () => forkedWorker(WORKER_PROCESS),
    // Until the last message: the generator then waits for more.
    onProgress: (_, total) => {
      if (total.received === received || !isConnected) return;
      received = total.received;
      after = use();
    },
    atMoment: async (moment) => {
      if (moment !== 'connected') return;
      before = use();
      isConnected = true;
    },
    stop: new AbortController().signal,
  });
  const { deliveries } = outcomeOf(ledgers);
  const micros = (from: number, to: number) => ((to - from) * 1e6) / deliveries.received;
  return {
    members: micros(before.members, after.members),
    engine: micros(before.engine, after.engine),
    lost: deliveries.lost,
  };
}

function report(): void {
  console.log(
    '| load | processes | CPU µs of the processes | of the engine | together | least–most | price |',
  );
  console.log('|---|---|---:|---:|---:|---:|---:|');
  for (const { name: load } of loads) {
    for (const { name, size, isCluster } of variants) {
      const members = median(load, name, ({ members }) => members);
      const engine = median(load, name, ({ engine }) => engine);
      const together = spreadOf(all(load, name).map(({ members, engine }) => members + engine));
      const alone = median(load, `${size} by themselves`, ({ members }) => members);
      const price = isCluster ? `${Math.round(((members + engine) / alone - 1) * 100)} %` : '';
      const range = `${together?.least.toFixed(1)}–${together?.most.toFixed(1)}`;
      const lost = all(load, name).reduce((sum, { lost }) => sum + lost, 0);
      console.log(
        `| ${load} | ${name} | ${members.toFixed(1)} | ${engine.toFixed(1)} | ${together?.median.toFixed(1)} | ${range} | ${price} |${lost > 0 ? ` ${lost} LOST` : ''}`,
      );
    }
  }
}

function all(load: string, variant: string): readonly Sample[] {
  return samples.get(`${load} ${variant}`) ?? [];
}

function median(load: string, variant: string, read: (sample: Sample) => number): number {
  return spreadOf(all(load, variant).map(read))?.median ?? Number.NaN;
}
