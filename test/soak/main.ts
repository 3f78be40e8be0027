import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { billOf, usageOf } from '@apus/cost';
import type { Order } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import { Broker, type Counters, MEMORY_BYTES_MAX } from './broker.ts';
import { HonestClient, type Seen } from './honest-client.ts';
import { Hook } from './hook.ts';
import type { Door } from './raw-client.ts';

const HELP = `npm run soak -- [--minutes 60] [--attack-seconds 30] [--rest-seconds 10] [--attack TEXT]

One malicious identity beside honest ones, at both doors of \`apus serve\` on this machine. Mallory takes one attack after
another, or those whose names hold TEXT, and rests after each: the honest clients are alone then, on the same machine
at the same time of the day. Prints a row for each attack and each rest, and ends with 1 where a message of the honest
was lost, doubled, or took more than twice as long at the 99th percentile beside mallory as alone, or where the broker
took more memory than it may, or wrote more than 100 KB of log in an hour.`;

/** Of the users file, and of the hook. */
const FILE_USERS = ['ada'];
const HOOK_USERS = ['bob'];
const USERS = [...FILE_USERS, ...HOOK_USERS];
const CLIENTS_OF_USER = 2;
const MINUTE_MS = 60_000;
const LAST_MESSAGE_MS = 10_000;
const MINUTES_MAX = 24 * 60;
/** The broker works off the attack's messages: that time counts for the attack. */
const AFTERMATH_MS = 500;
/** A pause before the first attack, so that no honest client is measured while it warms up. */
const WARM_UP_MS = 5_000;
/** A quiet broker answers faster than the garbage collector pauses: below this, a p99 shows nothing about mallory. */
const QUIET_P99_MS = 10;

/** Beside what the broker keeps for clients: itself, its connections, and what waits for the garbage collector. */
const OWN_BYTES_MAX = 256 * 1024 ** 2;
const LOG_BYTES_OF_AN_HOUR_MAX = 100_000;
const HOUR_SECONDS = 3_600;

/** Mallory does nothing. */
const REST = 'alone';

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
    'attack-seconds': { type: 'string', default: '30' },
    'rest-seconds': { type: 'string', default: '10' },
    attack: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (values.help) console.log(HELP);
else process.exitCode = await soak();

async function soak(): Promise<number> {
  const attacks = ATTACKS.map(({ name }) => name).filter((name) => name.includes(values.attack));
  if (attacks.length === 0) throw new Error(`There is no attack with "${values.attack}" in its name.`);
  const program = fileURLToPath(new URL('../../../../packages/cli/dist/apus.js', import.meta.url));
  const hook = await Hook.start(HOOK_USERS);
  const broker = await Broker.start(program, [...FILE_USERS, 'mallory'], hook);
  let attacker: ChildProcess | undefined;
  try {
    const honest = await startHonest(broker);
    attacker = fork(fileURLToPath(new URL('attacker.mjs', import.meta.url)));
    const rows = await watchAttacks(broker, honest, attacker, attacks);
    return await verdict(honest, rows);
  } finally {
    attacker?.kill('SIGKILL');
    await broker.stop();
    hook.stop();
  }
}

function numberOf(name: 'minutes' | 'attack-seconds' | 'rest-seconds'): number {
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

async function watchAttacks(
  broker: Broker,
  honest: Honest,
  attacker: ChildProcess,
  attacks: readonly string[],
): Promise<readonly Row[]> {
  const victims = USERS.flatMap((user) => broker.targets.map(({ door }) => `${user}-${door}-0`));
  const tell = (attack: string | undefined) => {
    attacker.send({ targets: broker.targets, victims, attack } satisfies Order);
  };
  console.log(HEAD);
  const rows = [await watch(broker, honest, REST, WARM_UP_MS)];
  const endMs = performance.now() + numberOf('minutes') * MINUTE_MS;
  for (let turn = 0; performance.now() < endMs; turn += 1) {
    const attack = attacks[turn % attacks.length] ?? '';
    tell(attack);
    const stopped = wait(numberOf('attack-seconds') * 1_000).then(() => tell(undefined));
    rows.push(
      await watch(broker, honest, attack, numberOf('attack-seconds') * 1_000 + AFTERMATH_MS, rows.at(-1)),
    );
    await stopped;
    rows.push(await watch(broker, honest, REST, numberOf('rest-seconds') * 1_000, rows.at(-1)));
  }
  return rows.slice(1);
}

async function watch(
  broker: Broker,
  honest: Honest,
  what: string,
  forMs: number,
  before?: Row,
): Promise<Row> {
  const startMs = performance.now();
  await wait(forMs);
  const row: Row = {
    what,
    seconds: (performance.now() - startMs) / 1_000,
    seen: { node: seenBy(honest.node), gateway: seenBy(honest.gateway) },
    counters: await broker.counters(),
    logBytes: broker.logBytes,
  };
  if (before !== undefined) console.log(lineOf(row, before));
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

function lineOf({ what, seconds, seen, counters, logBytes }: Row, before: Row): string {
  const cpu = (counters.process.cpuMicroseconds - before.counters.process.cpuMicroseconds) / seconds / 1e4;
  const cells = [
    what,
    percentilesOf(seen.node),
    percentilesOf(seen.gateway),
    seen.node.cuts + seen.gateway.cuts,
    Math.round(counters.process.residentBytes / 1e6),
    Math.round(cpu),
    Math.round((logBytes - before.logBytes) / seconds),
    (((usdOf(counters) - usdOf(before.counters)) * 3_600) / seconds).toFixed(3),
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

function failuresOfProcess(rows: readonly Row[]): number {
  const seconds = rows.reduce((sum, row) => sum + row.seconds, 0);
  const resident = Math.max(...rows.map(({ counters }) => counters.process.residentBytes));
  const logBytes = rows.at(-1)?.logBytes ?? 0;
  const logMax = LOG_BYTES_OF_AN_HOUR_MAX * Math.max(1, seconds / HOUR_SECONDS);
  const residentMax = MEMORY_BYTES_MAX + OWN_BYTES_MAX;
  console.log(
    `process: ${Math.round(resident / 1e6)} MB at most, of ${Math.round(residentMax / 1e6)}; log ${Math.round(logBytes / 1e3)} KB, of ${Math.round(logMax / 1e3)}`,
  );
  return (resident > residentMax ? 1 : 0) + (logBytes > logMax ? 1 : 0);
}

async function verdict(honest: Honest, rows: readonly Row[]): Promise<number> {
  let failures = failuresOfProcess(rows);
  for (const door of ['node', 'gateway'] as const) {
    const last = sumOf(await Promise.all(honest[door].map((client) => client.finish(LAST_MESSAGE_MS))));
    const latenciesOf = (some: readonly Row[]) => some.flatMap(({ seen }) => seen[door].latenciesMs);
    const alone = latenciesOf(rows.filter(({ what }) => what === REST));
    const attacked = latenciesOf(rows.filter(({ what }) => what !== REST));
    const [before, beside] = [percentile(alone, 0.99), percentile(attacked, 0.99)];
    const isSlow = beside > 2 * Math.max(before, QUIET_P99_MS);
    const cuts = rows.reduce((sum, { seen }) => sum + seen[door].cuts, 0);
    failures += last.lost + last.doubled + cuts + (isSlow ? 1 : 0);
    console.log(
      `${door} door: ${alone.length + attacked.length} messages, ${last.lost} lost, ${last.doubled} doubled, ${cuts} honest connections cut; p99 ${before.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside mallory${isSlow ? ': more than twice' : ''}`,
    );
  }
  return failures > 0 ? 1 : 0;
}
