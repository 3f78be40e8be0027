import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startNode } from '@apus/node';

/** Watchers of a room, and members that join it while it is measured. */
const ROOMS = [
  { watchers: 10, members: 200 },
  { watchers: 100, members: 200 },
  { watchers: 1_000, members: 200 },
  { watchers: 10_000, members: 20 },
] as const;

/** The pause between two measurements, in which the former connections end. */
const PAUSE_MS = 2_000;

const CLIENTS = fileURLToPath(new URL('./clients.mjs', import.meta.url));

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function measure(url: string, order: (typeof ROOMS)[number]): Promise<string> {
  const clients = fork(CLIENTS);
  const said = async () => (await once(clients, 'message'))[0] as { joinMs: number; toldMs: number };
  clients.send({ url, ...order });
  await said();
  const before = cpuMs();
  clients.send('go');
  const { joinMs } = await said();
  const joined = cpuMs();
  const { toldMs } = await said();
  const told = cpuMs();
  await once(clients, 'exit');
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const { watchers, members } = order;
  const deliveries = watchers * members;
  const perJoin = (joined - before) / members;
  const perDelivery = ((told - joined) * 1_000) / deliveries;
  return [
    watchers.toLocaleString('en'),
    members,
    joinMs.toFixed(2),
    perJoin.toFixed(2),
    (toldMs / 1_000).toFixed(1),
    watchers > 100 ? perDelivery.toFixed(1) : '(at once)',
  ].join(' | ');
}

const node = await startNode({ port: 0, logLevel: 'silent' });
process.stdout.write(
  '| watchers | members that join | a join, ms | CPU of a join, ms | all are told after, s | CPU of a delivery in ticks, µs |\n|---|---|---|---|---|---|\n',
);
for (const order of ROOMS) process.stdout.write(`| ${await measure(node.url, order)} |\n`);
await node.stop();
