// Compares what may carry the messages between two processes: streams of Valkey or Redis, and NATS with JetStream. The
// pattern is that of extensions/cluster/src/bus.ts: what a turn of the event loop has gathered leaves as one entry for the
// channel of the other process, which answers with an entry when it has handled it.
//   node test/cluster/bench/bus.mjs REDIS_SERVER NATS_SERVER NATS_MODULES [SECONDS]
// NATS_MODULES: a folder in which `npm install @nats-io/transport-node @nats-io/jetstream` was run.
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PORT = 7_393;
const TICKS_PER_SECOND = 100;
const MESSAGE_BYTES = 256;
/** Bytes before a message in an entry: its number. */
const HEAD_BYTES = 4;
/** JetStream keeps so many entries of a channel. Handled entries of streams are removed. */
const CHANNEL_BYTES_MAX = 64 * 1024 * 1024;
const WARM_UP_SECONDS = 2;
const RATES = [1_000, 10_000];
const [ROLE, ...REST] = process.argv.slice(2);

if (ROLE === 'child') await child(JSON.parse(REST[0] ?? '{}'));
else await compare(ROLE, REST[0], REST[1], Number(REST[2] ?? 6));

async function compare(redis, nats, modules, seconds) {
  const cases = [
    { name: 'streams, everysec', kind: 'redis', program: redis, args: ['--appendonly', 'yes', '--save', ''] },
    {
      name: 'streams, always',
      kind: 'redis',
      program: redis,
      args: ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''],
    },
    { name: 'JetStream, as it is', kind: 'nats', program: nats, sync: '2m' },
    { name: 'JetStream, sync always', kind: 'nats', program: nats, sync: 'always' },
  ];
  console.log('| | messages/s | CPU µs: sender | receiver | engine | together | answered: p50 ms | p99 ms |');
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|');
  for (const each of cases) for (const perSecond of RATES) await measure(each, perSecond, modules, seconds);
}

async function measure({ name, kind, program, args = [], sync }, perSecond, modules, seconds) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bus-'));
  const file = join(directory, 'nats.conf');
  const store = `jetstream { store_dir: ${JSON.stringify(directory)}, sync_interval: ${sync} }`;
  writeFileSync(file, `host: 127.0.0.1\nport: ${PORT}\n${store}\n`);
  const own = ['--port', String(PORT), '--bind', '127.0.0.1', '--dir', directory, ...args];
  const engine = spawn(program, kind === 'redis' ? own : ['-c', file], { stdio: 'ignore' });
  const children = [];
  const start = async (role) => {
    const options = JSON.stringify({ role, kind, modules, perSecond, seconds });
    const started = fork(fileURLToPath(import.meta.url), ['child', options]);
    children.push(started);
    await heard(started, 'ready');
    return started;
  };
  try {
    await sleep(1_000);
    const receiver = await start('receiver');
    const sender = await start('sender');
    const pids = [sender.pid, receiver.pid, engine.pid];
    await heard(sender, 'warm');
    const before = pids.map(cpu);
    const { count, p50, p99 } = await heard(sender, 'done');
    const micros = pids.map((pid, index) => ((cpu(pid) - before[index]) * 1e6) / count);
    const together = micros.reduce((sum, each) => sum + each, 0);
    const cells = [...micros, together].map((each) => each.toFixed(1));
    const rate = Math.round(count / seconds).toLocaleString('en');
    console.log(`| ${[name, rate, ...cells, p50.toFixed(2), p99.toFixed(2)].join(' | ')} |`);
  } finally {
    for (const started of children) started.kill('SIGKILL');
    engine.kill('SIGKILL');
    await sleep(300);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Waits for a message of a child. */
function heard(from, what) {
  return new Promise((resolve, reject) => {
    const look = (message) => {
      if (message.what !== what) return;
      from.off('message', look);
      resolve(message);
    };
    from.on('message', look);
    from.once('exit', () => reject(new Error(`a process has ended before "${what}"`)));
  });
}

async function child({ role, kind, modules, perSecond, seconds }) {
  const open = kind === 'redis' ? openRedis : openNats;
  const other = role === 'sender' ? 'receiver' : 'sender';
  if (role === 'receiver') {
    // An answer has the number of the last message of each entry.
    const channel = await open(role, modules, (entry) => channel.send(other, lastOf(entry)));
    process.send({ what: 'ready' });
    return;
  }
  const sentAtMs = new Map();
  const latencies = [];
  let isMeasuring = false;
  const channel = await open(role, modules, (entry) => {
    const number = entry.readUInt32BE(0);
    for (const [each, atMs] of sentAtMs) {
      if (each > number) break;
      sentAtMs.delete(each);
      if (isMeasuring) latencies.push(performance.now() - atMs);
    }
  });
  process.send({ what: 'ready' });
  let last = 0;
  const run = async (forSeconds) => {
    const startedAtMs = performance.now();
    let sent = 0;
    while (performance.now() - startedAtMs < forSeconds * 1_000) {
      const due = ((performance.now() - startedAtMs) / 1_000) * perSecond;
      const messages = [];
      for (; sent < due; sent += 1) {
        last += 1;
        const message = Buffer.alloc(HEAD_BYTES + MESSAGE_BYTES);
        message.writeUInt32BE(last, 0);
        sentAtMs.set(last, performance.now());
        messages.push(message);
      }
      if (messages.length > 0) channel.send(other, Buffer.concat(messages));
      await sleep(1);
    }
    while (sentAtMs.size > 0) await sleep(5);
  };
  await run(WARM_UP_SECONDS);
  process.send({ what: 'warm' });
  isMeasuring = true;
  await run(seconds);
  latencies.sort((one, two) => one - two);
  const at = (share) => latencies[Math.floor(latencies.length * share)];
  process.send({ what: 'done', count: latencies.length, p50: at(0.5), p99: at(0.99) });
}

function lastOf(entry) {
  const at = entry.length - HEAD_BYTES - MESSAGE_BYTES;
  return entry.subarray(at, at + HEAD_BYTES);
}

async function openRedis(me, _modules, handle) {
  const { Redis } = await import('iovalkey');
  const [writer, reader] = [new Redis({ port: PORT }), new Redis({ port: PORT })];
  void (async () => {
    for (let from = '0'; ; ) {
      const found = await reader.xreadBuffer('COUNT', 256, 'BLOCK', 2_000, 'STREAMS', me, from);
      for (const [, entries] of found ?? [])
        for (const [id, fields] of entries) {
          from = id.toString();
          handle(fields[1]);
        }
      // Handled entries are removed, as the bus does.
      if (found !== null) void writer.xtrim(me, 'MINID', from);
    }
  })();
  return { send: (to, data) => void writer.xadd(to, '*', 'e', data) };
}

async function openNats(me, modules, handle) {
  const require = createRequire(join(modules, 'package.json'));
  const load = (name) => import(pathToFileURL(require.resolve(name)).href);
  const { connect } = await load('@nats-io/transport-node');
  const { jetstream, jetstreamManager } = await load('@nats-io/jetstream');
  const connection = await connect({ servers: `127.0.0.1:${PORT}` });
  const manager = await jetstreamManager(connection);
  const stream = await jetstream(connection);
  // A channel is read in order by one process, which knows its place: no acknowledgement of a message is needed.
  for (const name of ['sender', 'receiver'])
    await manager.streams
      .add({ name, subjects: [`to.${name}`], max_bytes: CHANNEL_BYTES_MAX, discard: 'old' })
      .catch(() => {});
  const consumer = await stream.consumers.get(me);
  void (async () => {
    for await (const message of await consumer.consume({ max_messages: 256 }))
      handle(Buffer.from(message.data));
  })();
  return { send: (to, data) => void stream.publish(`to.${to}`, data) };
}

/** User and system time of a process, in seconds. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
