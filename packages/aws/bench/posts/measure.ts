import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { QoS } from '@apus/mqtt';
import type { Arrived, Endpoints } from './gateway.ts';
import { makeObvious, makeObviousWorker } from './obvious.ts';
import { profiled } from './profile.ts';
import { type Cost, deliveredCost, tableLine, tableTitle } from './table.ts';
import { type Load, makeInline, makePosts, makeWorker, type Scheme, type Way } from './ways.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    // Fewer, for a profile of one of them.
    ways: { type: 'string', default: 'worker,obvious worker,posts,inline,obvious posts' },
    schemes: { type: 'string', default: 'http,https' },
    messages: { type: 'string', default: '1,2,10' },
    // Where to write a profile of the rounds that are counted.
    profile: { type: 'string' },
  },
});

/** A single message is repeated, so that the bench measures the steady state. */
const REPEATS_OF_ONE = 3;

const MAKERS: Readonly<Record<string, (endpoints: Endpoints, scheme: Scheme) => Way | Promise<Way>>> = {
  worker: makeWorker,
  posts: makePosts,
  inline: makeInline,
  'obvious worker': makeObviousWorker,
  'obvious posts': makeObvious,
};

const CONNECTIONS = Number(values.connections);

const LOADS: readonly Load[] = values.messages
  .split(',')
  .flatMap((messages) =>
    ([0, 1] as QoS[]).flatMap((qos) =>
      [32, 1_024].map((payloadBytes) => ({ messages: Number(messages), qos, payloadBytes })),
    ),
  );

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(): Promise<void> {
  const gateway = fork(fileURLToPath(new URL('gateway.mjs', import.meta.url)), [values.connections]);
  const [endpoints] = (await once(gateway, 'message')) as [Endpoints];
  const [cpu] = cpus();
  print(`${CONNECTIONS} connections, Node.js ${process.version}, ${cpu?.model ?? 'an unknown CPU'}.`);
  print('CPU of this process for each delivery in µs, in brackets that of the kernel for it: medians of the');
  print(
    `${values.rounds} rounds, in which the ways take turns. How many times less: the median of the rounds, and in`,
  );
  print('brackets the least and the most of them.');
  print('worker: all of it, with its job, its shard read from DynamoDB and its claims.');
  print('obvious worker: for each message a Query of the SDK, and Promise.all of its posts.');
  print('posts, obvious posts: the posts of each alone, which are given the connections.');
  print('inline: those of a function that posts to its few recipients by itself.\n');
  const names = values.ways.split(',');
  print(tableTitle(names));
  for (const scheme of values.schemes.split(',') as Scheme[]) {
    const ways = new Map<string, Way>();
    for (const name of names) {
      const way = await MAKERS[name]?.(endpoints, scheme);
      if (way === undefined) throw new Error(`--ways are of ${Object.keys(MAKERS).join(', ')}, not ${name}`);
      ways.set(name, way);
    }
    for (const load of LOADS) print(tableLine(scheme, load, await compare(gateway, load, ways)));
    for (const way of ways.values()) way.close();
  }
  gateway.disconnect();
}

async function compare(
  gateway: ChildProcess,
  load: Load,
  ways: ReadonlyMap<string, Way>,
): Promise<ReadonlyMap<string, readonly Cost[]>> {
  const measured = new Map<string, Cost[]>([...ways.keys()].map((name) => [name, []]));
  await arrivedAt(gateway);
  // This warms up, and is not counted.
  for (const way of ways.values()) await measure(gateway, load, way);
  await profiled(values.profile, async () => {
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const [name, way] of ways) measured.get(name)?.push(await measure(gateway, load, way));
    }
  });
  return measured;
}

async function measure(gateway: ChildProcess, load: Load, way: Way): Promise<Cost> {
  const repeats = load.messages === 1 ? REPEATS_OF_ONE : 1;
  const before = process.cpuUsage();
  for (let repeat = 0; repeat < repeats; repeat += 1) await way.deliver(load);
  const used = process.cpuUsage(before);
  const { messages } = await arrivedAt(gateway);
  const expected = way.postsEach(load) * CONNECTIONS * repeats;
  if (messages !== expected) throw new Error(`expected ${expected} posts to arrive, not ${messages}`);
  return deliveredCost(used, load.messages * CONNECTIONS * repeats);
}

async function arrivedAt(gateway: ChildProcess): Promise<Arrived> {
  gateway.send('arrived?');
  const [arrived] = (await once(gateway, 'message')) as [Arrived];
  return arrived;
}

await run();
