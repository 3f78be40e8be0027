// Measures what the bus costs: CPU of the processes and of their engine for each delivery, with clients spread over them.
//   node test/cluster/bench/run.mjs COMMAND [SECONDS]     COMMAND: `apus.js` as `npm run build` makes it
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';

const [command, seconds = '8'] = process.argv.slice(2);
const ENGINE_PORT = 7391;
const TICKS_PER_SECOND = 100;

/** Fan-out: few publishers, all subscribers on all topics. Pairs: each publisher has one subscriber. */
const CASES = [
  { name: 'fan-out, QoS 0', qos: 0, publishers: 5, perSecond: 10, subscribers: 200, isPair: false },
  { name: 'fan-out, QoS 1', qos: 1, publishers: 5, perSecond: 10, subscribers: 200, isPair: false },
  { name: 'pairs, QoS 1', qos: 1, publishers: 100, perSecond: 10, subscribers: 100, isPair: true },
];

for (const size of [0, 1, 2, 4]) for (const each of CASES) await measure(size, each);

async function measure(size, { name, qos, publishers, perSecond, subscribers, isPair }) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bus-'));
  const password = randomBytes(12).toString('hex');
  const engine = size === 0 ? undefined : startEngine(directory, password);
  if (engine !== undefined) await sleep(500);
  const cluster = engine === undefined ? [] : ['--cluster', `redis://:${password}@127.0.0.1:${ENGINE_PORT}`];
  const members = [];
  for (let count = 0; count < Math.max(1, size); count += 1) members.push(await startMember(cluster));
  let received = 0;
  const clients = [];
  for (let index = 0; index < subscribers; index += 1) {
    const client = await mqtt.connectAsync(members[index % members.length].url, { protocolVersion: 5 });
    client.on('message', () => {
      received += 1;
    });
    await client.subscribeAsync(isPair ? `t/${index}` : 't/#', { qos });
    clients.push(client);
  }
  const senders = [];
  for (let index = 0; index < publishers; index += 1) {
    // A pair is at two processes where there are two.
    const client = await mqtt.connectAsync(members[(index + 1) % members.length].url, { protocolVersion: 5 });
    clients.push(client);
    senders.push(client);
  }
  const payload = randomBytes(100);
  const send = () => {
    for (const [index, client] of senders.entries()) client.publish(`t/${index}`, payload, { qos });
  };
  const run = async (forSeconds) => {
    const timer = setInterval(send, 1000 / perSecond);
    await sleep(forSeconds * 1000);
    clearInterval(timer);
    await sleep(500);
  };
  await run(3);
  const pids = members.map(({ child }) => child.pid);
  const [before, engineBefore, receivedBefore] = [cpu(pids), engine ? cpu([engine.pid]) : 0, received];
  await run(Number(seconds));
  const deliveries = received - receivedBefore;
  const micros = (cpuSeconds) => ((cpuSeconds * 1e6) / deliveries).toFixed(1);
  const [members_, engine_] = [cpu(pids) - before, engine ? cpu([engine.pid]) - engineBefore : 0];
  console.log(
    `| ${name} | ${size === 0 ? 'no cluster' : size} | ${deliveries} | ${micros(members_)} | ${micros(engine_)} | ${micros(members_ + engine_)} |`,
  );
  for (const client of clients) client.end(true);
  for (const { child } of members) child.kill('SIGKILL');
  engine?.kill('SIGKILL');
  await sleep(300);
  rmSync(directory, { recursive: true, force: true });
}

function startEngine(directory, password) {
  const program = process.env.APUS_ENGINE ?? 'redis-server';
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
  return spawn(program, [...args, '--appendonly', 'yes', '--save', ''], { stdio: 'ignore' });
}

async function startMember(cluster) {
  const args = [command, 'serve', '--port', '0', '--no-gateway', '--log-level', 'error', ...cluster];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /MQTT\s+(\S+)/.exec(line) ?? [];
    if (url !== undefined) return { child, url };
  }
  throw new Error('apus serve has not started');
}

/** User and system time of processes. */
function cpu(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS_PER_SECOND;
}
