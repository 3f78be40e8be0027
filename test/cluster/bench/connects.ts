// Measures what quotas cost a CONNECT: CPU of the processes and of their engine, with none and with some.
import { parseArgs } from 'node:util';
import { spreadOf } from '../../../loadtest/bench/statistics.ts';
import { openBinaryWire } from '../../../loadtest/src/generator/binary-wire.ts';
import { PacketReader } from '../../../loadtest/src/generator/packet-reader.ts';
import { connectPacket, PacketType } from '../../../loadtest/src/generator/packets.ts';
import { FrameTotals, type Wire } from '../../../loadtest/src/generator/wire.ts';
import { cpuSecondsOf, end, endEngine, type Member, startEngine, startMember } from './processes.ts';

/** Connections that are being opened or closed at a time. */
const UNDER_WAY = 20;
const WARM_UP = 3_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connects: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '1,2' },
  },
});
const [path] = positionals;
if (path === undefined) {
  console.error(
    'node test/cluster/bench/run.mjs connects APUS_JS [--connects 2000] [--rounds 5] [--sizes 1,2]',
  );
  process.exit(2);
}
const connects = Number(values.connects);

/** Clients are anonymous and of one tenant: of identities nothing would be counted. */
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

interface Variant {
  readonly name: string;
  readonly quotas: string;
  readonly members: readonly Member[];
  readonly engine: Awaited<ReturnType<typeof startEngine>> | undefined;
  readonly samples: { readonly processes: number; readonly engine: number; readonly perSecond: number }[];
}

const frames = new FrameTotals();
let clients = 0;
const variants: Variant[] = [];
try {
  for (const { quotas, flags: named } of QUOTAS) {
    const flags = Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const member = await startMember({ path }, flags);
    variants.push({ name: 'one process', quotas, members: [member], engine: undefined, samples: [] });
    for (const size of values.sizes.split(',').map(Number)) {
      const engine = await startEngine();
      const members: Member[] = [];
      for (let count = 0; count < size; count += 1)
        members.push(await startMember({ path }, ['--cluster', engine.url, ...flags]));
      variants.push({ name: `cluster of ${size}`, quotas, members, engine, samples: [] });
    }
  }
  for (const variant of variants) await connectAll(variant, WARM_UP);
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const variant of variants) await measure(variant);
    console.error(`round ${round} of ${values.rounds}`);
  }
  report();
} finally {
  await end(variants.flatMap(({ members }) => members.map(({ child }) => child)));
  for (const { engine } of variants) if (engine !== undefined) await endEngine(engine);
}

async function measure(variant: Variant): Promise<void> {
  const processes = variant.members.map(({ child }) => child);
  const engines = variant.engine === undefined ? [] : [variant.engine.child];
  const [before, engineBefore, startedAtMs] = [
    cpuSecondsOf(processes),
    cpuSecondsOf(engines),
    performance.now(),
  ];
  await connectAll(variant, connects);
  const per100 = (cpuSeconds: number) => (cpuSeconds * 1000 * 100) / connects;
  variant.samples.push({
    processes: per100(cpuSecondsOf(processes) - before),
    engine: per100(cpuSecondsOf(engines) - engineBefore),
    perSecond: connects / ((performance.now() - startedAtMs) / 1000),
  });
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
  await Promise.all(Array.from({ length: UNDER_WAY }, runner));
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
    '| processes | quotas | CPU-ms for 100 connects | of it the engine | least–most | connects/s |',
  );
  console.log('|---|---|---:|---:|---:|---:|');
  for (const { name, quotas, samples } of variants) {
    const all = spreadOf(samples.map((each) => each.processes + each.engine));
    const engine = spreadOf(samples.map((each) => each.engine));
    const perSecond = spreadOf(samples.map((each) => each.perSecond));
    const spread = `${all?.least.toFixed(0)}–${all?.most.toFixed(0)}`;
    console.log(
      `| ${name} | ${quotas} | ${all?.median.toFixed(0)} | ${engine?.median.toFixed(0)} | ${spread} | ${perSecond?.median.toFixed(0)} |`,
    );
  }
}
