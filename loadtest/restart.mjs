/*
 * A restart of `apus serve` under load, as a supervisor or a rolling deployment makes it: SIGTERM, and the same command
 * again as soon as the process has ended. Pairs of stock mqtt.js clients with sessions that outlive their connections
 * publish and receive meanwhile. Prints what was in flight, how long it took, and what was lost or came twice.
 *
 *     npm run bench:restart -- --pairs 100 --rate 10
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import mqtt from 'mqtt';

const APUS = fileURLToPath(new URL('../packages/cli/dist/apus.js', import.meta.url));
const RECOVERY_SECONDS_MAX = 60;
const PAIRS_MAX = 1_000;
/** Messages of each publisher and QoS that are sent right before SIGTERM. */
const BURSTS = 5;
const LEVELS = [0, 1, 2];

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '100' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
  },
});
const pairs = numberOf('pairs', PAIRS_MAX);
const rate = numberOf('rate', 1_000);
const seconds = numberOf('seconds', 600);

function numberOf(name, maximum) {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0 && number <= maximum) return number;
  throw new Error(`--${name} takes a whole number from 1 to ${maximum}, and not ${values[name]}`);
}

/** Starts the broker, and waits until it listens. */
async function serve(directory, port) {
  const child = spawn(process.execPath, [APUS, 'serve', '--port', port, '--data', directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^\s+MQTT\s+(\S+)/.exec(line) ?? [];
    if (url !== undefined) return { url, port: new URL(url).port, child, ended };
  }
  throw new Error('apus serve does not start');
}

/** A publisher and its subscriber. Each QoS has its own topic, whose messages are numbered. */
async function startPair(url, index, marks) {
  const connect = async (name) => {
    const client = mqtt.connect(url, {
      clientId: `${name}-${index}`,
      protocolVersion: 5,
      clean: false,
      properties: { sessionExpiryInterval: 3_600 },
    });
    // The test measures the restart, so refused connections are part of it.
    client.on('error', () => {});
    await new Promise((resolve) => client.once('connect', resolve));
    client.on('connect', () => marks.back.set(client, Date.now()));
    client.on('disconnect', ({ reasonCode }) => marks.told.set(client, reasonCode));
    return client;
  };
  const subscriber = await connect('subscriber');
  const publisher = await connect('publisher');
  const pair = { subscriber, publisher, sent: [0, 0, 0], acknowledged: [0, 0, 0], received: [[], [], []] };
  subscriber.on('message', (topic, payload) => pair.received[Number(topic.at(-1))].push(Number(payload)));
  await subscriber.subscribeAsync(`restart/${index}/+`, { qos: 2 });
  return pair;
}

function publish(pair, index) {
  for (const qos of LEVELS) {
    pair.sent[qos] += 1;
    pair.publisher.publish(`restart/${index}/${qos}`, String(pair.sent[qos]), { qos }, (error) => {
      if (!error) pair.acknowledged[qos] += 1;
    });
  }
}

const sumOf = (all, countIn) => all.reduce((sum, each) => sum + countIn(each), 0);
const missingOf = ({ sent, received }, qos) => sent[qos] - new Set(received[qos]).size;
const doublesOf = ({ received }, qos) => received[qos].length - new Set(received[qos]).size;
const isRising = (numbers) => numbers.every((number, place) => place === 0 || number > numbers[place - 1]);

async function measure(directory) {
  const marks = { back: new Map(), told: new Map() };
  const first = await serve(directory, '0');
  const all = [];
  for (let index = 0; index < pairs; index += 1) all.push(await startPair(first.url, index, marks));
  marks.back.clear();
  const timer = setInterval(() => all.forEach(publish), 1_000 / rate);
  await sleep(seconds * 1_000);
  // So that SIGTERM comes while messages are at every stage of their way.
  for (let burst = 0; burst < BURSTS; burst += 1) all.forEach(publish);
  const inFlight = LEVELS.map((qos) => sumOf(all, ({ sent, acknowledged }) => sent[qos] - acknowledged[qos]));
  const unreceived = LEVELS.map((qos) => sumOf(all, (pair) => missingOf(pair, qos)));
  const stoppedAt = Date.now();
  first.child.kill('SIGTERM');
  const code = await first.ended;
  const exitedAt = Date.now();
  const second = await serve(directory, first.port);
  const listensAt = Date.now();
  const deadline = listensAt + RECOVERY_SECONDS_MAX * 1_000;
  while (marks.back.size < 2 * pairs && Date.now() < deadline) await sleep(20);
  await sleep(seconds * 1_000);
  clearInterval(timer);
  const isMissing = () => [1, 2].some((qos) => all.some((pair) => missingOf(pair, qos) > 0));
  while (isMissing() && Date.now() < deadline) await sleep(50);
  const back = [...marks.back.values()].map((at) => at - stoppedAt).sort((a, b) => a - b);
  for (const { publisher, subscriber } of all)
    await Promise.all([publisher.endAsync(true), subscriber.endAsync(true)]);
  second.child.kill('SIGTERM');
  await second.ended;
  report({
    all,
    marks,
    code,
    inFlight,
    unreceived,
    back,
    exitMs: exitedAt - stoppedAt,
    listensMs: listensAt - stoppedAt,
  });
  return !isMissing() && all.every((pair) => doublesOf(pair, 2) === 0) && back.length === 2 * pairs;
}

function report({ all, marks, code, inFlight, unreceived, back, exitMs, listensMs }) {
  const told = [...marks.told.values()].filter((reasonCode) => reasonCode === 0x8b).length;
  const lines = [
    `${2 * pairs} clients in ${pairs} pairs, ${rate} messages a second of each QoS and pair; Node.js ${process.version}, ${cpus().length} processors`,
    `SIGTERM: exit code ${code} after ${exitMs} ms, listens again after ${listensMs} ms; ${told} clients were told 0x8B`,
    `back: ${back.length} clients, half of them after ${back[Math.floor(back.length / 2)]} ms, all after ${back.at(-1)} ms`,
    '',
    '| QoS | published | on their way at SIGTERM | of these without an acknowledgement | lost | came twice | in order |',
    '|---|---|---|---|---|---|---|',
    ...LEVELS.map((qos) => {
      const inOrder = all.every(({ received }) => isRising([...new Set(received[qos])]));
      const numbers = [
        sumOf(all, ({ sent }) => sent[qos]),
        unreceived[qos],
        qos === 0 ? 'none' : inFlight[qos],
      ];
      numbers.push(
        sumOf(all, (pair) => missingOf(pair, qos)),
        sumOf(all, (pair) => doublesOf(pair, qos)),
      );
      return `| ${qos} | ${numbers.join(' | ')} | ${inOrder ? 'yes' : 'no'} |`;
    }),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const directory = mkdtempSync(join(tmpdir(), 'apus-restart-'));
try {
  if (!(await measure(directory))) process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}
