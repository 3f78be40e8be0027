import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { billOf, usageOf } from '@apus/cost';
import type { Beginning, Orders } from './attacker.ts';
import { Broker, type Counters } from './broker.ts';
import { HonestClient, type Seen } from './honest-client.ts';
import type { Door } from './raw-client.ts';

const HELP = `npm run soak -- [--minutes 60] [--alone-minutes 5] [--attack-seconds 30] [--attack TEXT]

One malicious identity beside honest ones, at both doors of \`apus serve\` on this machine. First the honest clients are
alone; then mallory takes one attack after another, or those whose names hold TEXT. Prints a row for each attack, and ends with 1 where a message of the
honest was lost, doubled, or took more than twice as long at the 99th percentile as in the minutes alone.`;

const USERS = ['ada', 'bob'];
const CLIENTS_OF_USER = 2;
const MINUTE_MS = 60_000;
const LAST_MESSAGE_MS = 10_000;
const MINUTES_MAX = 24 * 60;
/** A quiet broker answers faster than the garbage collector pauses: below this a p99 says nothing of mallory. */
const QUIET_P99_MS = 10;

interface Row {
  readonly what: string;
  readonly seconds: number;
  readonly seen: Record<Door, Seen>;
  readonly counters: Counters;
  readonly logBytes: number;
}

const HEAD = `| honest clients, and mallory | p50, p99 node, ms | p50, p99 gateway, ms | cuts | resident MB | CPU % | log bytes/s | $/h |
|---|---:|---:|---:|---:|---:|---:|---:|`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'alone-minutes': { type: 'string', default: '5' },
    'attack-seconds': { type: 'string', default: '30' },
    attack: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(HELP);
else process.exitCode = await soak();

async function soak(): Promise<number> {
  const minutes = numberOf('minutes');
  const program = fileURLToPath(new URL('../../../../packages/node/dist/apus.js', import.meta.url));
  const broker = await Broker.start(program, [...USERS, 'mallory']);
  let attacker: ChildProcess | undefined;
  try {
    const honest = await startHonest(broker);
    console.log(HEAD);
    const alone = await watch(broker, honest, 'alone', numberOf('alone-minutes') * MINUTE_MS);
    const beginnings: string[] = [];
    attacker = startAttacker(broker, (attack) => beginnings.push(attack));
    const rows = await watchAttacks(broker, honest, beginnings, alone, minutes * MINUTE_MS);
    attacker.kill('SIGKILL');
    return await verdict(honest, alone, rows);
  } finally {
    attacker?.kill('SIGKILL');
    await broker.stop();
  }
}

function numberOf(name: 'minutes' | 'alone-minutes' | 'attack-seconds'): number {
  const number = Number(values[name]);
  if (!(number > 0 && number <= MINUTES_MAX))
    throw new Error(`--${name} has to be from 0 to ${MINUTES_MAX}.`);
  return number;
}

type Honest = Record<Door, readonly HonestClient[]>;

async function startHonest(broker: Broker): Promise<Honest> {
  const clients: Record<Door, HonestClient[]> = { node: [], gateway: [] };
  for (const target of broker.targets) {
    for (const user of USERS) {
      for (let count = 0; count < CLIENTS_OF_USER; count += 1)
        clients[target.door].push(await HonestClient.start(target, user, `${user}-${target.door}-${count}`));
    }
  }
  return clients;
}

function startAttacker(broker: Broker, begins: (attack: string) => void): ChildProcess {
  const child = fork(fileURLToPath(new URL('attacker.mjs', import.meta.url)));
  const orders: Orders = {
    targets: broker.targets,
    victims: USERS.flatMap((user) => broker.targets.map(({ door }) => `${user}-${door}-0`)),
    attackSeconds: numberOf('attack-seconds'),
    attack: values.attack,
  };
  child.on('message', ({ attack }: Beginning) => begins(attack));
  child.send(orders);
  return child;
}

async function watchAttacks(
  broker: Broker,
  honest: Honest,
  beginnings: readonly string[],
  alone: Row,
  forMs: number,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const endMs = performance.now() + forMs;
  let before = alone;
  while (performance.now() < endMs) {
    const row = await watch(
      broker,
      honest,
      () => beginnings.at(-1) ?? '',
      numberOf('attack-seconds') * 1_000,
      before,
    );
    rows.push(row);
    before = row;
  }
  return rows;
}

async function watch(
  broker: Broker,
  honest: Honest,
  what: string | (() => string),
  forMs: number,
  before?: Row,
): Promise<Row> {
  const startMs = performance.now();
  await wait(forMs / 2);
  const name = typeof what === 'string' ? what : what();
  await wait(forMs / 2);
  const row: Row = {
    what: name,
    seconds: (performance.now() - startMs) / 1_000,
    seen: { node: seenBy(honest.node), gateway: seenBy(honest.gateway) },
    counters: await broker.counters(),
    logBytes: broker.logBytes,
  };
  console.log(lineOf(row, before));
  return row;
}

function seenBy(clients: readonly HonestClient[]): Seen {
  return sumOf(clients.map((client) => client.take()));
}

function sumOf(all: readonly Seen[]): Seen {
  const sum = (name: 'lost' | 'doubled' | 'cuts') => all.reduce((total, each) => total + each[name], 0);
  return {
    latenciesMs: all.flatMap(({ latenciesMs }) => latenciesMs),
    lost: sum('lost'),
    doubled: sum('doubled'),
    cuts: sum('cuts'),
  };
}

function lineOf({ what, seconds, seen, counters, logBytes }: Row, before: Row | undefined): string {
  const cpu =
    (counters.process.cpuMicroseconds - (before?.counters.process.cpuMicroseconds ?? 0)) / seconds / 1e4;
  const cells = [
    what,
    percentilesOf(seen.node),
    percentilesOf(seen.gateway),
    seen.node.cuts + seen.gateway.cuts,
    Math.round(counters.process.residentBytes / 1e6),
    Math.round(cpu),
    Math.round((logBytes - (before?.logBytes ?? 0)) / seconds),
    (((usdOf(counters) - (before ? usdOf(before.counters) : 0)) * 3_600) / seconds).toFixed(3),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Frames, minutes and functions, as the gateway door counted them. */
function usdOf({ gateway }: Counters): number {
  return billOf(usageOf(gateway.counters)).usd;
}

function percentilesOf({ latenciesMs }: Seen): string {
  return `${percentile(latenciesMs, 0.5).toFixed(1)}, ${percentile(latenciesMs, 0.99).toFixed(1)}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function verdict(honest: Honest, alone: Row, rows: readonly Row[]): Promise<number> {
  let failures = 0;
  for (const door of ['node', 'gateway'] as const) {
    const last = sumOf(await Promise.all(honest[door].map((client) => client.finish(LAST_MESSAGE_MS))));
    const attacked = rows.flatMap(({ seen }) => seen[door].latenciesMs);
    const [before, beside] = [percentile(alone.seen[door].latenciesMs, 0.99), percentile(attacked, 0.99)];
    const isSlow = beside > 2 * Math.max(before, QUIET_P99_MS);
    const cuts = rows.reduce((sum, { seen }) => sum + seen[door].cuts, 0);
    failures += last.lost + last.doubled + cuts + (isSlow ? 1 : 0);
    console.log(
      `${door} door: ${attacked.length} messages, ${last.lost} lost, ${last.doubled} doubled, ${cuts} honest connections cut; p99 ${before.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside mallory${isSlow ? ': more than twice' : ''}`,
    );
  }
  return failures > 0 ? 1 : 0;
}
