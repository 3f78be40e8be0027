// Holds many connections to several processes of a cluster, with traffic, kills one of them, and says when all are back.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import mqtt from 'mqtt';
import { processUse } from '../../../loadtest/bench/process-use.ts';
import type { HoldOrder, HoldProgress } from './hold.ts';
import { end, endEngine, type Member, startEngine, startMember } from './processes.ts';

const HOLD = join(fileURLToPath(new URL('.', import.meta.url)), 'cluster-hold.mjs');
/** Each address has some 28,000 ports towards one listener. */
const ADDRESSES = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 2}`);
const LOOK_MS = 1000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: 'string', default: '100000' },
    processes: { type: 'string', default: '4' },
    generators: { type: 'string', default: '4' },
    rate: { type: 'string', default: '1000' },
    messages: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '5' },
  },
});
const [path] = positionals;
if (path === undefined) {
  console.error(
    'node test/cluster/bench/run.mjs many APUS_JS [--connections 100000] [--processes 4] [--generators 4] [--rate 1000] [--messages 200] [--minutes 5]',
  );
  process.exit(2);
}
const [connections, size, generators] = [values.connections, values.processes, values.generators].map(
  Number,
) as [number, number, number];
const untilMs = performance.now() + Number(values.minutes) * 60_000;

const engine = await startEngine();
/** All of them belong to one tenant, with the publisher. The quota is exactly their number. */
const connectionsMax = String(connections + 1);
const flags = [
  ...['--cluster', engine.url, '--connections-max', connectionsMax],
  ...['--identity-connections-max', connectionsMax, '--tenant-connections-max', connectionsMax],
];
const members: Member[] = [];
for (let count = 0; count < size; count += 1) members.push(await startMember({ path }, flags));
const urls = members.map(({ url }) => url);
const progress: HoldProgress[] = [];
const holders = Array.from({ length: generators }, (_, index) => {
  const child = fork(HOLD, { serialization: 'advanced' });
  child.on('message', (told: HoldProgress) => {
    progress[index] = told;
  });
  const order: HoldOrder = {
    first: Math.floor((connections * index) / generators),
    end: Math.floor((connections * (index + 1)) / generators),
    perSecond: Number(values.rate) / generators,
    urls,
    addresses: ADDRESSES,
  };
  child.send(order);
  return child;
});
let published = 0;
let acknowledged = 0;
const publisher = await mqtt.connectAsync(urls[1] ?? '', { protocolVersion: 5, reconnectPeriod: 100 });

try {
  const connectedMs = await until('connecting', () => sum('ready') >= connections);
  const held = sum('ready');
  console.log(`${held} connections after ${seconds(connectedMs)} s, ${memory()}`);
  const stop = publishAll();
  await pause(10_000);
  stop();
  await pause(2_000);
  console.log(`${published} messages at QoS 1, ${acknowledged} acknowledged, ${sum('received')} received`);
  const [victim] = members;
  if (victim !== undefined) await end([victim.child]);
  const lostAtMs = performance.now();
  await pause(LOOK_MS);
  const away = held - sum('ready');
  await until('coming back', () => sum('ready') >= held);
  console.log(
    `one of ${size} processes killed: ${away} connections gone a second later, ${sum('ready')} there ${seconds(performance.now() - lostAtMs)} s after it, ${memory()}`,
  );
  const [before, receivedBefore] = [acknowledged, sum('received')];
  const stopAgain = publishAll();
  await pause(5_000);
  stopAgain();
  await pause(2_000);
  console.log(
    `then ${acknowledged - before} messages acknowledged, ${sum('received') - receivedBefore} received`,
  );
} finally {
  publisher.end(true);
  await end([...holders, ...members.map(({ child }) => child)]);
  await endEngine(engine);
}

/** Publishes to connected clients, one after another. */
function publishAll(): () => void {
  const timer = setInterval(() => {
    for (let count = 0; count < Number(values.messages) / 20; count += 1) {
      published += 1;
      publisher.publish(`c/${(published * 7919) % connections}`, 'hello', { qos: 1 }, (error) => {
        if (error === undefined || error === null) acknowledged += 1;
      });
    }
  }, 50);
  return () => clearInterval(timer);
}

async function until(phase: string, isSo: () => boolean): Promise<number> {
  const fromMs = performance.now();
  while (!isSo() && performance.now() < untilMs) {
    await pause(LOOK_MS / 10);
    if (Math.floor((performance.now() - fromMs) / 100) % 100 === 0)
      console.error(`${phase}: ${sum('ready')}`);
  }
  return performance.now() - fromMs;
}

function sum(name: keyof HoldProgress): number {
  return progress.reduce((total, each) => total + (each?.[name] ?? 0), 0);
}

function memory(): string {
  const living = members.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  const resident = living.map(({ child }) => Math.round(processUse(child.pid ?? 0).residentBytes / 1e6));
  const ofEngine = Math.round(processUse(engine.child.pid ?? 0).residentBytes / 1e6);
  return `resident MB of the processes ${resident.join(', ')}, of the engine ${ofEngine}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
