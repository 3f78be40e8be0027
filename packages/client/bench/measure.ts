import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { connect, createTransport, type Transport } from '../src/index.ts';
import { MiniBroker } from '../test/support/mini-broker.ts';
import { TextGateway } from '../test/support/text-gateway.ts';

/** How long the server takes to reply, in milliseconds: about 10 in the network and 15 in a function. */
const REPLY_MS = 25;
const PAYLOAD = Buffer.alloc(64, 'x');
const AT_ONCE = 20_000;
const RATE_PER_SECOND = 100;
const RATE_SECONDS = 10;
const LOOK_MS = 5;

const broker = new MiniBroker();
const gateway = await TextGateway.start(broker, { handlerMs: () => REPLY_MS });
const rows = [await burst(0), await burst(1), await steady()];
await gateway.stop();
const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, load average ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}, ${machine}

| | messages a second | frames each | billed each | half acknowledged within | all but 1 % within |
|---|--:|--:|--:|--:|--:|
${rows.join('\n')}
`);

/** Publishes all messages at once, as a program does that was offline or that imports data. */
async function burst(qos: 0 | 1): Promise<string> {
  const { client, transport } = await open();
  const before = { ...transport.statistics };
  const arrivedBefore = broker.published.length;
  const startedAt = performance.now();
  const publishes = Array.from({ length: AT_ONCE }, () =>
    client.publishAsync('bench/topic', PAYLOAD, { qos }),
  );
  // At QoS 0 a publish is done when it is written, so the bench waits until the message has arrived.
  while (broker.published.length - arrivedBefore < AT_ONCE) await sleep(LOOK_MS);
  const seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(publishes);
  const each = spent(transport, before, AT_ONCE);
  await client.endAsync();
  return row(`${count(AT_ONCE)} at once, QoS ${qos}`, AT_ONCE / seconds, each, []);
}

/** Publishes one message every ten milliseconds by the clock, without waiting for the one before. */
async function steady(): Promise<string> {
  const { client, transport } = await open();
  const before = { ...transport.statistics };
  const messages = RATE_PER_SECOND * RATE_SECONDS;
  const took: number[] = [];
  const publishes: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < messages; index += 1) {
    const dueMs = startedAt + (index * 1_000) / RATE_PER_SECOND - performance.now();
    if (dueMs > 0) await sleep(dueMs);
    const sentAt = performance.now();
    publishes.push(
      client.publishAsync('bench/topic', PAYLOAD, { qos: 1 }).then(() => {
        took.push(performance.now() - sentAt);
      }),
    );
  }
  await Promise.all(publishes);
  const seconds = (performance.now() - startedAt) / 1_000;
  const each = spent(transport, before, messages);
  await client.endAsync();
  return row(`${RATE_PER_SECOND} a second, QoS 1`, messages / seconds, each, took);
}

async function open(): Promise<{ readonly client: MqttClient; readonly transport: Transport }> {
  const transport = createTransport();
  const client = connect(mqtt, gateway.url, {}, transport);
  await new Promise((resolve) => client.once('connect', resolve));
  return { client, transport };
}

interface Each {
  readonly frames: number;
  readonly billed: number;
}

function spent({ statistics }: Transport, before: Transport['statistics'], messages: number): Each {
  return {
    frames: (statistics.framesSent - before.framesSent) / messages,
    billed: (statistics.messagesBilled - before.messagesBilled) / messages,
  };
}

function row(what: string, perSecond: number, { frames, billed }: Each, took: readonly number[]): string {
  const sorted = took.toSorted((one, other) => one - other);
  const within = (share: number): string => {
    const ms = sorted[Math.floor(sorted.length * share)];
    return ms === undefined ? '' : `${ms.toFixed(0)} ms`;
  };
  return `| ${what} | ${count(perSecond)} | ${short(frames)} | ${short(billed)} | ${within(0.5)} | ${within(0.99)} |`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 });
}
