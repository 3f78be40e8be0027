import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { QoS } from '@apus/mqtt';
import type { Arrived, Endpoints } from './gateway.ts';
import { type Load, makeObvious, makePosts, makeWorker, type Way } from './ways.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
  },
});

/** A single message is repeated, so that what is measured is the steady state. */
const REPEATS_OF_ONE = 10;

const LOADS: readonly Load[] = [1, 10].flatMap((messages) =>
  ([0, 1] as QoS[]).flatMap((qos) => [32, 1_024].map((payloadBytes) => ({ messages, qos, payloadBytes }))),
);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(): Promise<void> {
  const gateway = fork(fileURLToPath(new URL('gateway.mjs', import.meta.url)), [values.connections]);
  const [endpoints] = (await once(gateway, 'message')) as [Endpoints];
  print(
    `${endpoints.connectionIds.length} connections, Node.js ${process.version}. CPU of this process for each`,
  );
  print('delivery in µs: median (lowest to highest) of the rounds. The ways take turns.');
  print(
    'worker: the whole of it, with its job, its shard read from DynamoDB and its claims. posts: those alone.',
  );
  print('obvious: Promise.all of the SDK, which is given the connections and the frames.\n');
  print(
    `${'endpoint messages QoS payload'.padEnd(33)}${COLUMNS.map((name) => name.padEnd(22)).join('')}times less`,
  );
  for (const scheme of ['http', 'https'] as const) {
    const ways = [
      await makeWorker(endpoints, scheme),
      makePosts(endpoints, scheme),
      makeObvious(endpoints, scheme),
    ];
    for (const load of LOADS) print(await compare(gateway, scheme, load, ways));
    for (const way of ways) way.close();
  }
  gateway.disconnect();
}

const COLUMNS = ['worker', 'posts', 'obvious'];

async function compare(
  gateway: ChildProcess,
  scheme: string,
  load: Load,
  ways: readonly Way[],
): Promise<string> {
  const measured = ways.map((): number[] => []);
  await arrivedAt(gateway);
  // The first round warms up, and is not counted.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const [index, way] of ways.entries()) {
      const microseconds = await measure(gateway, load, way);
      if (round > 0) measured[index]?.push(microseconds);
    }
  }
  const [worker = Number.NaN, posts = Number.NaN, obvious = Number.NaN] = measured.map(median);
  const { messages, qos, payloadBytes } = load;
  const name = `${scheme.padEnd(9)}${String(messages).padStart(8)}${String(qos).padStart(4)}${`${payloadBytes} B`.padStart(8)}`;
  const times = `${(obvious / worker).toFixed(1)} (posts ${(obvious / posts).toFixed(1)})`;
  return `${name.padEnd(33)}${measured.map((each) => spread(each).padEnd(22)).join('')}${times}`;
}

/** Microseconds of CPU, user and system, for each message to each connection. */
async function measure(gateway: ChildProcess, load: Load, way: Way): Promise<number> {
  const repeats = load.messages === 1 ? REPEATS_OF_ONE : 1;
  const before = process.cpuUsage();
  for (let repeat = 0; repeat < repeats; repeat += 1) await way.deliver(load);
  const { user, system } = process.cpuUsage(before);
  const { messages } = await arrivedAt(gateway);
  const connections = Number(values.connections);
  const expected = way.postsEach(load) * connections * repeats;
  if (messages !== expected) throw new Error(`expected ${expected} posts to arrive, not ${messages}`);
  return (user + system) / (load.messages * connections * repeats);
}

async function arrivedAt(gateway: ChildProcess): Promise<Arrived> {
  gateway.send('arrived?');
  const [arrived] = (await once(gateway, 'message')) as [Arrived];
  return arrived;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

await run();
