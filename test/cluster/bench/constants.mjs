// Measures what `npm run simulate -- cluster` is calibrated by: CPU of the processes and of their engine for a message, a
// CONNECT and a SUBSCRIBE, and the memory of a connection and of a filter, here and at the other processes.
//   node test/cluster/bench/constants.mjs COMMAND [SECONDS [PART…]]
// COMMAND: `apus.js` as `npm run build` makes it. PART: pairs, fan-out, stream, state, memory; all of them by default.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import mqtt from 'mqtt';

const [command, seconds = '6', ...named] = process.argv.slice(2);
const ENGINE_PORT = 7392;
const TICKS_PER_SECOND = 100;
const PAYLOAD = randomBytes(256);
/** Of the generator, which shares the machine: beyond it the processes wait for it. */
const BURST_MS = 1;
const CONNECTIONS = 2_000;
const FILTERS = 20;
const IDLE_CONNECTIONS = 10_000;
/** V8 gives memory back when nothing has happened for some seconds. */
const IDLE_SECONDS = 20;

const SIZES = [1, 2, 3];
const PARTS = {
  async pairs() {
    for (const size of SIZES)
      for (const perSecond of [10, 40]) await withCluster(size, (all) => pairs(all, perSecond));
  },
  async 'fan-out'() {
    for (const size of SIZES) await withCluster(size, fanOut);
  },
  async stream() {
    for (const size of SIZES) await withCluster(size, stream);
  },
  async state() {
    for (const size of SIZES) await withCluster(size, state);
  },
  async memory() {
    await withCluster(1, memory);
  },
};
for (const name of named.length > 0 ? named : Object.keys(PARTS)) await PARTS[name]();

/** 100 publishers, each with one subscriber, at another process where there is one. */
async function pairs({ urls, measured, size }, perSecond) {
  const count = 100;
  let received = 0;
  const clients = [];
  for (let index = 0; index < count; index += 1) {
    const reader = await connect(urls[index % size]);
    reader.on('message', () => (received += 1));
    await reader.subscribeAsync(`t/${index}`, { qos: 1 });
    clients.push(reader, await connect(urls[(index + 1) % size]));
  }
  const writers = clients.filter((_, index) => index % 2 === 1);
  let at = 0;
  // One after another: messages of one moment would share a turn of the process, and an entry for the next one.
  const send = () => {
    at = (at + 1) % count;
    writers[at].publish(`t/${at}`, PAYLOAD, { qos: 1 });
  };
  await run(send, count * perSecond, 3);
  const before = received;
  const used = await measured(() => run(send, count * perSecond, Number(seconds)));
  say(`pairs, QoS 1, ${count * perSecond}/s, ${size} processes`, received - before, used);
  for (const client of clients) client.end(true);
}

/** 40 topics, 10 messages a second each, to 10 of 400 subscribers each, spread over the processes: QoS 0. */
async function fanOut({ urls, measured, size }) {
  let received = 0;
  const clients = [];
  for (let index = 0; index < 400; index += 1) {
    const reader = await connect(urls[index % size]);
    reader.on('message', () => (received += 1));
    await reader.subscribeAsync(`t/${index % 40}`, { qos: 0 });
    clients.push(reader);
  }
  const writer = await connect(urls[0]);
  clients.push(writer);
  let at = 0;
  const send = () => writer.publish(`t/${at++ % 40}`, PAYLOAD, { qos: 0 });
  await run(send, 400, 3);
  const before = received;
  const used = await measured(() => run(send, 400, Number(seconds)));
  say(`1 to 10, QoS 0, 400/s, ${size} processes`, received - before, used);
  for (const client of clients) client.end(true);
}

/** One publisher of 4,000 messages a second at QoS 0, each to one subscriber at the last process: messages share entries. */
async function stream({ urls, measured, size }) {
  let received = 0;
  const reader = await connect(urls[size - 1]);
  reader.on('message', () => (received += 1));
  await reader.subscribeAsync('s/+', { qos: 0 });
  const writer = await connect(urls[0]);
  let at = 0;
  const send = () => writer.publish(`s/${at++ % 100}`, PAYLOAD, { qos: 0 });
  await run(send, 4_000, 3);
  const before = received;
  const used = await measured(() => run(send, 4_000, Number(seconds)));
  say(`1 to 1, QoS 0, 4000/s, ${size} processes`, received - before, used);
  reader.end(true);
  writer.end(true);
}

/** The costs of connections and filters. */
async function state({ urls, measured, size, engineBytes, residentBytes }) {
  const clients = [];
  const [engineBefore] = [await engineBytes()];
  const connecting = await measured(async () => {
    for (let index = 0; index < CONNECTIONS; index += 100)
      clients.push(...(await Promise.all(Array.from({ length: 100 }, () => connect(urls[0])))));
  });
  say(`CONNECT, ${size} processes`, CONNECTIONS, connecting);
  const engineConnected = await engineBytes();
  console.log(`  engine bytes a connection: ${((engineConnected - engineBefore) / CONNECTIONS).toFixed(0)}`);
  const residentBefore = residentBytes();
  const subscribing = await measured(async () => {
    for (let round = 0; round < FILTERS; round += 1)
      for (let from = 0; from < CONNECTIONS; from += 200)
        await Promise.all(
          clients
            .slice(from, from + 200)
            .map((client, index) => client.subscribeAsync(`f/${round}/${from + index}/state`)),
        );
  });
  const count = CONNECTIONS * FILTERS;
  say(`SUBSCRIBE, ${size} processes`, count, subscribing);
  const grown = residentBytes().map((bytes, index) => ((bytes - residentBefore[index]) / count).toFixed(0));
  console.log(`  engine bytes a filter: ${(((await engineBytes()) - engineConnected) / count).toFixed(0)}`);
  console.log(`  resident bytes a filter, at each process: ${grown.join(', ')}`);
  for (const client of clients) client.end(true);
}

/** What a process and idle connections take, before and after messages. */
async function memory({ urls, residentBytes }) {
  const show = (what) => console.log(`resident MB, ${what}: ${(residentBytes()[0] / 1e6).toFixed(0)}`);
  await sleep(2_000);
  show('a process that has just started');
  const clients = [];
  while (clients.length < IDLE_CONNECTIONS)
    clients.push(...(await Promise.all(Array.from({ length: 100 }, () => connect(urls[0])))));
  show(`${IDLE_CONNECTIONS} connections, at once`);
  await sleep(IDLE_SECONDS * 1_000);
  show(`${IDLE_CONNECTIONS} connections, ${IDLE_SECONDS} s later`);
  const count = 1_000;
  for (let index = 0; index < count; index += 1)
    await clients[index].subscribeAsync(`t/${index}`, { qos: 1 });
  let at = 0;
  const send = () => {
    at = (at + 1) % count;
    clients[count + at].publish(`t/${at}`, PAYLOAD, { qos: 1 });
  };
  await run(send, 3 * count, Number(seconds));
  show(`the same after ${seconds} s of ${3 * count} messages/s between ${count} pairs`);
  await sleep(IDLE_SECONDS * 1_000);
  show(`the same ${IDLE_SECONDS} s later`);
  for (const client of clients) client.end(true);
}

async function run(send, perSecond, forSeconds) {
  const startedAtMs = performance.now();
  let sent = 0;
  while (performance.now() - startedAtMs < forSeconds * 1000) {
    const due = ((performance.now() - startedAtMs) / 1000) * perSecond;
    for (; sent < due; sent += 1) send();
    await sleep(BURST_MS);
  }
  await sleep(500);
}

function say(what, count, { processes, engine }) {
  const micros = (cpuSeconds) => ((cpuSeconds * 1e6) / count).toFixed(1);
  console.log(
    `${what}: ${count}, CPU µs each: processes ${processes.map(micros).join(' + ')}, engine ${micros(engine)}`,
  );
}

async function connect(url) {
  return await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 0, keepalive: 600 });
}

async function withCluster(size, work) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-constants-'));
  const password = randomBytes(12).toString('hex');
  const args = [
    '--port',
    String(ENGINE_PORT),
    '--bind',
    '127.0.0.1',
    '--requirepass',
    password,
    '--dir',
    directory,
  ];
  const engine = spawn(
    process.env.APUS_ENGINE ?? 'redis-server',
    [...args, '--appendonly', 'yes', '--save', ''],
    {
      stdio: 'ignore',
    },
  );
  await sleep(500);
  const engineUrl = `redis://:${password}@127.0.0.1:${ENGINE_PORT}`;
  const members = [];
  for (let count = 0; count < size; count += 1) members.push(await startMember(engineUrl));
  const client = new Redis(engineUrl);
  const pids = members.map(({ child }) => child.pid);
  try {
    await work({
      size,
      urls: members.map(({ url }) => url),
      engineBytes: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1]),
      residentBytes: () =>
        pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`))[1]) * 1024),
      measured: async (what) => {
        const [before, engineBefore] = [pids.map(cpu), cpu(engine.pid)];
        await what();
        await sleep(1_000);
        return {
          processes: pids.map((pid, index) => cpu(pid) - before[index]),
          engine: cpu(engine.pid) - engineBefore,
        };
      },
    });
  } finally {
    client.disconnect();
    for (const { child } of members) child.kill('SIGKILL');
    engine.kill('SIGKILL');
    await sleep(300);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startMember(engineUrl) {
  const args = ['serve', '--port', '0', '--no-gateway', '--log-level', 'error', '--cluster', engineUrl];
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /MQTT\s+(\S+)/.exec(line) ?? [];
    if (url !== undefined) return { child, url };
  }
  throw new Error('apus serve has not started');
}

/** User and system time of a process, in seconds. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
