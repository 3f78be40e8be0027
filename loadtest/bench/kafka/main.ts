/*
 * Records of a real Kafka through a bridge of a node to WebSocket subscribers: how many a second at most, and how late
 * they are at a pace that the machine bears. Kafka, the producer, the node and the subscribers share the machine.
 *
 *     npm run bench:kafka
 *     npm run bench:kafka -- --seconds 10 --subscribers 1,100
 *
 * Kafkorama's scenario: each key gets a record of 512 B a second, and each client reads one key.
 *
 *     npm run bench:kafka -- --keys 1000 --clients 1000 --processes 1,2
 *
 * With `--stream` the records go through a stream. `--data` keeps everything on disk; the engine of several processes
 * then syncs each write. `--sync everysec` gives several processes an engine (`redis-server`) that syncs once a second,
 * `--rate` sends so many records a second over all keys.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Admin, ProduceAcks, Producer } from '@platformatic/kafka';
import { Latencies, monotonicMicros } from '../../src/measure/index.ts';
import { processUse } from '../process-use.ts';
import { makeKafka } from './broker.ts';
import { startEngine } from './engine.ts';
import type { ReadersCount, ReadersOrder } from './readers.ts';

const APUS =
  process.env.APUS_JS ?? fileURLToPath(new URL('../../packages/cli/dist/apus.js', import.meta.url));
const READERS = fileURLToPath(new URL('kafka-readers.mjs', import.meta.url));
const PAYLOAD_BYTES = 512;
const STAMP_BYTES = 6;
/** Messages of a backlog: enough for several seconds. */
const DELIVERIES = 400_000;
const RECORDS_MAX = 100_000;
/** Deliveries a second at a fixed pace, for subscribers that all receive everything. */
const PACED_DELIVERIES = 5_000;
const PACED_RECORDS_MAX = 1_000;
const TICK_MS = 10;
const BATCH = 500;
const POLL_MS = 100;
const DRAIN_SECONDS_MAX = 120;
const WARM_UP_SECONDS = 3;
const STREAM_TOPICS_MAX = 100_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    subscribers: { type: 'string', default: '1,100,1000' },
    keys: { type: 'string' },
    clients: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '1' },
    stream: { type: 'boolean', default: false },
    data: { type: 'boolean', default: false },
    sync: { type: 'string' },
    rate: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const sizes = values.subscribers.split(',').map(Number);

interface Running {
  readonly url: string;
  /** The command, and the engine where it is not the command's own. */
  readonly pids: readonly number[];
  readonly readers: ChildProcess;
  stop(): Promise<void>;
}

type Send = (records: readonly { readonly key: string }[]) => Promise<void>;

async function ask<T>(readers: ChildProcess, order: ReadersOrder | 'count' | 'forget'): Promise<T> {
  readers.send(order as object);
  const [answer] = await once(readers, 'message');
  return answer as T;
}

/** `apus serve` with a bridge from a topic, and subscribers. */
async function start(
  address: string,
  topic: string,
  filters: readonly string[],
  processes = 1,
): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bench-kafka-'));
  const file = join(directory, 'bridges.json');
  const bridge = {
    ...{ name: topic, kafka: { brokers: [address] } },
    in: [{ topic, to: 'prices/{key}', qos: 0 }],
  };
  writeFileSync(file, JSON.stringify({ bridges: [bridge] }));
  const args = [APUS, 'serve', '--port', '0', '--no-gateway', '--log-level', 'warn', '--bridges', file];
  if (processes > 1) args.push('--workers', String(processes));
  const engine = values.sync === undefined || processes === 1 ? undefined : await startEngine(values.sync);
  if (engine !== undefined) args.push('--cluster', engine.url);
  if (values.data) args.push('--data', join(directory, 'data'));
  if (values.stream) {
    const streams = join(directory, 'streams.json');
    writeFileSync(
      streams,
      JSON.stringify({
        streams: [{ name: 'prices', topicFilter: 'prices/#', topicsMax: STREAM_TOPICS_MAX }],
      }),
    );
    args.push('--streams', streams);
  }
  const node = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const readers = fork(READERS);
  const stop = async (): Promise<void> => {
    for (const child of [readers, node]) {
      child.kill();
      await once(child, 'exit');
    }
    await engine?.stop();
    rmSync(directory, { recursive: true });
  };
  for await (const line of createInterface({ input: node.stdout })) {
    const [, url] = /^\s+MQTT\s+(\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    await ask(readers, { url, filters });
    return { url, pids: [node.pid ?? 0, ...(engine === undefined ? [] : [engine.pid])], readers, stop };
  }
  throw new Error('apus serve has not started');
}

function payload(): Buffer {
  const bytes = Buffer.alloc(PAYLOAD_BYTES);
  bytes.writeUIntBE(monotonicMicros(), 0, STAMP_BYTES);
  return bytes;
}

/** Measures a backlog from its first message to its last. */
async function drained(address: string, topic: string, subscribers: number, send: Send): Promise<void> {
  const records = Math.min(RECORDS_MAX, Math.ceil(DELIVERIES / subscribers));
  const node = await start(
    address,
    topic,
    Array.from({ length: subscribers }, () => 'prices/#'),
  );
  // The group has its partition before the first record.
  await sleep(WARM_UP_SECONDS * 1000);
  const before = cpuSecondsOf(node.pids);
  const began = monotonicMicros();
  for (let sent = 0; sent < records; sent += BATCH)
    await send(Array.from({ length: Math.min(BATCH, records - sent) }, (_, at) => ({ key: `k${at}` })));
  const wanted = records * subscribers;
  const result = await until(node.readers, wanted);
  const elapsed = (result.lastMicros - began) / 1e6;
  const cpu = cpuSecondsOf(node.pids) - before;
  const perDelivery = ((cpu / result.count) * 1e6).toFixed(1);
  const lost = result.count === wanted ? '' : `, ${wanted - result.count} missing`;
  console.log(
    `backlog   ${subscribers} subscribers: ${rate(result.count / subscribers / elapsed)} records/s, ${rate(result.count / elapsed)} deliveries/s, ${perDelivery} µs CPU of the node per delivery${lost}`,
  );
  await node.stop();
}

async function until(readers: ChildProcess, wanted: number): Promise<ReadersCount> {
  const deadline = Date.now() + DRAIN_SECONDS_MAX * 1000;
  let result = await ask<ReadersCount>(readers, 'count');
  while (result.count < wanted && Date.now() < deadline) {
    await sleep(POLL_MS);
    result = await ask<ReadersCount>(readers, 'count');
  }
  return result;
}

/** Records at a fixed pace: with `each` every subscriber has its own key, otherwise all receive everything. */
async function paced(
  address: string,
  topic: string,
  subscribers: number,
  isEach: boolean,
  send: Send,
): Promise<void> {
  const perSecond = isEach
    ? subscribers
    : Math.min(PACED_RECORDS_MAX, Math.max(5, Math.floor(PACED_DELIVERIES / subscribers)));
  const filters = Array.from({ length: subscribers }, (_, at) => (isEach ? `prices/k${at}` : 'prices/#'));
  const node = await start(address, topic, filters);
  const measured = await measure(node, { perSecond, keys: Math.max(subscribers, 1) }, send);
  const wanted = seconds * perSecond * (isEach ? 1 : subscribers);
  const { mean, p50, p99, max, cores, missing } = figures(measured, wanted);
  console.log(
    `${isEach ? 'own key ' : 'all     '}  ${subscribers} subscribers, ${perSecond} records/s: mean ${mean}, p50 ${p50}, p99 ${p99}, max ${max} ms; ${cores} % of a core${missing}`,
  );
  await node.stop();
}

/** Kafkorama's scenario: each key is updated once a second, and each client has one key. */
async function kafkorama(
  address: string,
  topic: string,
  processes: number,
  [keys, clients]: readonly [number, number],
  send: Send,
): Promise<void> {
  const filters = Array.from({ length: clients }, (_, at) => `prices/k${at % keys}`);
  const node = await start(address, topic, filters, processes);
  const perSecondOfAll = Number(values.rate ?? keys);
  const measured = await measure(node, { perSecond: perSecondOfAll, keys }, send);
  const wanted = Math.round((seconds * clients * perSecondOfAll) / keys);
  const { mean, p50, p99, max, cores, missing } = figures(measured, wanted);
  const perSecond = rate(measured.count / seconds);
  const row = [processes, clients, keys, perSecond, mean, p50, p99, max, `${cores} %${missing}`];
  console.log(`| ${row.join(' | ')} |`);
  await node.stop();
}

interface Measured extends ReadersCount {
  readonly cpuSeconds: number;
}

/** Sends records at a pace and counts what arrives. */
async function measure(
  node: Running,
  { perSecond, keys }: { readonly perSecond: number; readonly keys: number },
  send: Send,
): Promise<Measured> {
  let next = 0;
  const run = async (forSeconds: number): Promise<void> => {
    const began = performance.now();
    for (let sent = 0; sent < forSeconds * perSecond; ) {
      const due = Math.min(
        forSeconds * perSecond,
        Math.floor(((performance.now() - began) / 1000) * perSecond),
      );
      const records = Array.from({ length: due - sent }, () => ({ key: `k${next++ % keys}` }));
      if (records.length > 0) await send(records);
      sent = due;
      await sleep(TICK_MS);
    }
  };
  await run(WARM_UP_SECONDS);
  await sleep(1_000);
  await ask(node.readers, 'forget');
  const before = cpuSecondsOf(node.pids);
  await run(seconds);
  await sleep(1_000);
  const result = await ask<ReadersCount>(node.readers, 'count');
  return { ...result, cpuSeconds: cpuSecondsOf(node.pids) - before };
}

function cpuSecondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSecondsOfTree(pid), 0);
}

/** CPU time of a process and of those that it has started: workers and their engine. */
function cpuSecondsOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.reduce((sum, child) => sum + cpuSecondsOfTree(Number(child)), processUse(pid).cpuSeconds);
}

function figures({ latencies, count, cpuSeconds }: Measured, wanted: number) {
  const { mean, p50, p99, max } = new Latencies(latencies).percentiles();
  return {
    ...{ mean: ms(mean), p50: ms(p50), p99: ms(p99), max: ms(max) },
    cores: ((cpuSeconds / seconds) * 100).toFixed(0),
    missing: count === wanted ? '' : `, ${wanted - count} missing`,
  };
}

const rate = (perSecond: number): string => Math.round(perSecond).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0);

async function main(): Promise<void> {
  const kafka = await makeKafka();
  await kafka.start();
  const base = { clientId: 'bench', bootstrapBrokers: [kafka.address] };
  const admin = new Admin(base);
  const producer = new Producer<string, Buffer, string, string>({
    ...base,
    serializers: {
      key: (key) => Buffer.from(key ?? ''),
      value: (value) => value ?? Buffer.alloc(0),
      headerKey: (name) => Buffer.from(name ?? ''),
      headerValue: (value) => Buffer.from(value ?? ''),
    },
    acks: ProduceAcks.ALL,
  });
  const sendTo =
    (topic: string): Send =>
    async (records) => {
      await producer.send({ messages: records.map(({ key }) => ({ topic, key, value: payload() })) });
    };
  try {
    console.log(
      `${availableParallelism()} cores, load average ${loadavg()[0]?.toFixed(1)}, ${PAYLOAD_BYTES} B, QoS 0, Kafka on the same machine, one partition`,
    );
    if (values.keys !== undefined) {
      const shape = [Number(values.keys), Number(values.clients)] as const;
      console.log(
        '| processes | clients | keys | messages/s | mean ms | p50 | p99 | max | CPU, of one core |',
      );
      console.log('|--:|--:|--:|--:|--:|--:|--:|--:|--:|');
      for (const processes of values.processes.split(',').map(Number)) {
        const topic = `kafkorama-${processes}`;
        await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
        await kafkorama(kafka.address, topic, processes, shape, sendTo(topic));
      }
      return;
    }
    for (const subscribers of sizes) {
      for (const kind of ['backlog', 'all', 'each']) {
        const topic = `${kind}-${subscribers}`;
        await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
        if (kind === 'backlog') await drained(kafka.address, topic, subscribers, sendTo(topic));
        else await paced(kafka.address, topic, subscribers, kind === 'each', sendTo(topic));
      }
    }
  } finally {
    await producer.close();
    await admin.close();
    await kafka.kill();
  }
}

await main();
