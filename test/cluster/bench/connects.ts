// Measures what a CONNECT costs in a cluster, without quotas and with some: CPU of the processes and of their engine.
import { parseArgs } from 'node:util';
import { Redis } from 'iovalkey';
import { spreadOf } from '../../../loadtest/bench/statistics.ts';
import { openBinaryWire } from '../../../loadtest/src/generator/binary-wire.ts';
import { PacketReader } from '../../../loadtest/src/generator/packet-reader.ts';
import { connectPacket, PacketType } from '../../../loadtest/src/generator/packets.ts';
import { FrameTotals, type Wire } from '../../../loadtest/src/generator/wire.ts';
import { cpuSecondsOf, end, endEngine, type Member, startEngine, startMember } from './processes.ts';

/** Connections of each process before the measurement: a cold process costs half as much again. */
const WARM_UP = 3_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connects: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '1,2' },
    quotas: { type: 'string', default: 'all' },
    'under-way': { type: 'string', default: '20' },
    'node-flags': { type: 'string', default: '' },
  },
});
const [path, before] = positionals;
if (path === undefined) {
  console.error(
    "node test/cluster/bench/run.mjs connects APUS_JS [BEFORE_JS] [--connects 2000] [--rounds 5] [--sizes 1,2] [--quotas all|none] [--under-way 20] [--node-flags '--cpu-prof …']",
  );
  process.exit(2);
}
const nodeFlags = values['node-flags'].split(' ').filter((flag) => flag !== '');
const builds = [{ build: '', path }, ...(before === undefined ? [] : [{ build: ', before', path: before }])];
const connects = Number(values.connects);
/** Connections that are being opened or closed at a time. */
const underWay = Number(values['under-way']);

/** Clients are anonymous and of one tenant. With identities, quotas would be counted for each. */
const NO_HOLDINGS = { 'tenant-connections-max': 0, 'tenant-sessions-max': 0, 'tenant-subscriptions-max': 0 };
const NO_RATES = Object.fromEntries(
  ['identity', 'tenant', 'broker'].flatMap((scope) => [
    [`${scope}-packets-per-second-max`, 0],
    [`${scope}-bytes-per-second-max`, 0],
  ]),
);
const holdings = (max: number) => ({ 'tenant-connections-max': max, 'tenant-sessions-max': max });
const QUOTAS: readonly { readonly quotas: string; readonly flags: Readonly<Record<string, number>> }[] = [
  { quotas: 'none', flags: { ...NO_HOLDINGS, ...NO_RATES } },
  { quotas: '1,000,000 connections, sessions', flags: { ...NO_RATES, ...holdings(1_000_000) } },
  { quotas: '1,000 connections, sessions', flags: { ...NO_RATES, ...holdings(1_000) } },
  { quotas: 'the same, and the preset rates', flags: holdings(1_000) },
];
const chosen = values.quotas === 'none' ? QUOTAS.slice(0, 1) : QUOTAS;

interface Variant {
  readonly name: string;
  readonly quotas: string;
  readonly members: readonly Member[];
  readonly engine: Awaited<ReturnType<typeof startEngine>> | undefined;
  readonly samples: {
    readonly processes: number;
    readonly engine: number;
    readonly perSecond: number;
    /** The CPU of the engine. */
    readonly commands: number;
  }[];
}

const frames = new FrameTotals();
let clients = 0;
const variants: Variant[] = [];
try {
  for (const { quotas, flags: named } of chosen) {
    const flags = Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const sizes = values.sizes.split(',').map(Number);
    for (const { build, path } of builds)
      for (const size of sizes) {
        // The control: the same number of processes without an engine.
        const alone = await start(path, size, flags);
        const name = size === 1 ? `one process${build}` : `${size} processes, no engine${build}`;
        variants.push({ name, quotas, members: alone, engine: undefined, samples: [] });
        const engine = await startEngine();
        const members = await start(path, size, ['--cluster', engine.url, ...flags]);
        variants.push({ name: `cluster of ${size}${build}`, quotas, members, engine, samples: [] });
      }
  }
  for (const variant of variants) await connectAll(variant, WARM_UP * variant.members.length);
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const variant of variants) await measure(variant);
    console.error(`round ${round} of ${values.rounds}`);
  }
  report();
} finally {
  // A process writes its profile when it ends in order.
  const signal = nodeFlags.length === 0 ? 'SIGKILL' : 'SIGTERM';
  await end(
    variants.flatMap(({ members }) => members.map(({ child }) => child)),
    signal,
  );
  for (const { engine } of variants) if (engine !== undefined) await endEngine(engine);
}

async function start(path: string, size: number, flags: readonly string[]): Promise<Member[]> {
  const members: Member[] = [];
  for (let count = 0; count < size; count += 1) members.push(await startMember({ path, nodeFlags }, flags));
  return members;
}

async function measure(variant: Variant): Promise<void> {
  const processes = variant.members.map(({ child }) => child);
  const engines = variant.engine === undefined ? [] : [variant.engine.child];
  const commandsBefore = await commandsOf(variant);
  const startedAtMs = performance.now();
  const [before, engineBefore] = [cpuSecondsOf(processes), cpuSecondsOf(engines)];
  await connectAll(variant, connects);
  const per100 = (cpuSeconds: number) => (cpuSeconds * 1000 * 100) / connects;
  const [used, engineUsed] = [cpuSecondsOf(processes) - before, cpuSecondsOf(engines) - engineBefore];
  const elapsedSeconds = (performance.now() - startedAtMs) / 1000;
  variant.samples.push({
    processes: per100(used),
    engine: per100(engineUsed),
    perSecond: connects / elapsedSeconds,
    commands: (((await commandsOf(variant)) - commandsBefore) * 100) / connects,
  });
}

/** Commands that clients have sent to the engine so far, without those that scripts call. */
async function commandsOf({ engine }: Variant): Promise<number> {
  if (engine === undefined) return 0;
  const client = new Redis(engine.url);
  const stats = await client.info('commandstats');
  client.disconnect();
  let calls = 0;
  for (const [, name, count] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm))
    if (name === 'evalsha' || name === 'publish') calls += Number(count);
  return calls;
}

/** Each client connects, is answered, and leaves. */
async function connectAll({ members }: Variant, count: number): Promise<void> {
  let left = count;
  const runner = async () => {
    for (; left > 0; ) {
      left -= 1;
      await connectOnce(members[left % members.length]?.url ?? '');
    }
  };
  await Promise.all(Array.from({ length: underWay }, runner));
}

function connectOnce(url: string): Promise<void> {
  clients += 1;
  const clientId = `c-${clients}`;
  const reader = new PacketReader();
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const wire: Wire = openBinaryWire(
      { url, frames },
      {
        open() {
          const fields = { version: '5', clientId, cleanStart: true } as const;
          wire.send(connectPacket({ ...fields, keepAliveSeconds: 0, sessionExpirySeconds: 0 }));
        },
        bytes(data) {
          for (const { type, bytes, bodyAt } of reader.push(data)) {
            isConnected = type === PacketType.CONNACK && (bytes[bodyAt + 1] ?? 0x80) < 0x80;
            wire.close();
          }
        },
        closed: () => (isConnected ? resolve() : reject(new Error(`${clientId} was not let in`))),
      },
    );
  });
}

function report(): void {
  console.log(
    '| processes | quotas | CPU-ms for 100 connects | of it the engine | least–most | commands | connects/s |',
  );
  console.log('|---|---|---:|---:|---:|---:|---:|');
  for (const { name, quotas, samples } of variants) {
    const all = spreadOf(samples.map((each) => each.processes + each.engine));
    const shown = (value: number | undefined) => value?.toFixed(0);
    const median = (figure: 'engine' | 'commands' | 'perSecond') =>
      shown(spreadOf(samples.map((each) => each[figure]))?.median);
    console.log(
      `| ${name} | ${quotas} | ${shown(all?.median)} | ${median('engine')} | ${shown(all?.least)}–${shown(all?.most)} | ${median('commands')} | ${median('perSecond')} |`,
    );
  }
}
