// The web client compared with bare mqtt.js in one browser, at QoS 1: `npm run soak:race -w web-client`.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import * as mqtt from 'mqtt';
import type { Page } from 'playwright-core';
import { Broker } from './broker.ts';
import { ClientPage } from './client-page.ts';
import { loadText, machineText } from './machine.ts';
import { markdownTable } from './words.ts';

/**
 * More than the messages of a round: the race measures how fast each client reads, and not the drops of a full queue.
 */
const QUEUE_LENGTH = 200_000;

/** The generator's publishes in flight. */
const OUTSTANDING_MAX = 2_000;

/** How often the counts are compared. */
const LOOK_MS = 20;

/** The limit of one round, only against a hang. */
const ROUND_MS_MAX = 120_000;

const BARE = readFileSync(createRequire(import.meta.url).resolve('mqtt/dist/mqtt.min'), 'utf8');

/** Stock mqtt.js on a page of its own, which counts messages. */
class BarePage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  static async open(beside: ClientPage, httpUrl: string, url: string): Promise<BarePage> {
    const page = await beside.page.context().browser()?.newPage();
    if (page === undefined) throw new Error('the browser has gone');
    await page.goto(`${httpUrl}healthz`);
    await page.evaluate(`${BARE};globalThis.mqtt = mqtt;`);
    await page.evaluate(
      `globalThis.count = 0; globalThis.client = mqtt.connect(${JSON.stringify(url)}, { protocolVersion: 5 });
       client.on('message', () => { count += 1; });
       new Promise((resolve) => client.once('connect', resolve)).then(() => undefined)`,
    );
    return new BarePage(page);
  }

  async subscribe(): Promise<void> {
    await this.#page.bringToFront();
    await this.#page.evaluate(`client.subscribeAsync('#', { qos: 1 }).then(() => undefined)`);
  }

  async unsubscribe(): Promise<void> {
    await this.#page.evaluate(`client.unsubscribeAsync('#').then(() => undefined)`);
  }

  async count(): Promise<number> {
    return Number(await this.#page.evaluate('count'));
  }
}

/** Publishes as fast as the broker acknowledges. */
async function publishAll(client: mqtt.MqttClient, count: number, payload: string): Promise<void> {
  let outstanding = 0;
  let resume = (): void => {};
  for (let index = 0; index < count; index += 1) {
    outstanding += 1;
    client.publish(
      `race/${index % 100}`,
      payload.replace('{n}', String(Math.floor(index / 100))),
      { qos: 1 },
      () => {
        outstanding -= 1;
        resume();
      },
    );
    while (outstanding >= OUTSTANDING_MAX)
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
  }
}

/** Messages a second that one of them has received, from the first publish to the last message. */
async function round(
  read: () => Promise<number>,
  publish: () => Promise<void>,
  messages: number,
): Promise<number> {
  const before = await read();
  const beganAtMs = performance.now();
  void publish();
  while ((await read()) < before + messages) {
    if (performance.now() - beganAtMs > ROUND_MS_MAX) throw new Error(`only ${(await read()) - before} came`);
    await delay(LOOK_MS);
  }
  return Math.round((messages * 1_000) / (performance.now() - beganAtMs));
}

/** Processor time of the whole browser so far, in milliseconds, without other programs. */
async function browserCpuMs(client: ClientPage): Promise<number> {
  const session = await client.page.context().browser()?.newBrowserCDPSession();
  const { processInfo } = (await session?.send('SystemInfo.getProcessInfo')) ?? { processInfo: [] };
  await session?.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1_000, 0);
}

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    payload: { type: 'string', default: '{"seq":{n},"value":21.5,"unit":"C"}' },
    view: { type: 'string', default: 'messages' },
    profile: { type: 'string' },
  },
});
const messages = Number(values.messages);
process.stderr.write('Building …\n');
const broker = await Broker.start(['--queue-length-max', String(QUEUE_LENGTH)]);
const publisher = await mqtt.connectAsync(broker.mqttUrl, { protocolVersion: 5 });
const client = await ClientPage.open(broker.pageUrl, 'node');
try {
  const bare = await BarePage.open(client, broker.pageUrl, broker.mqttUrl);
  const publish = () => publishAll(publisher, messages, values.payload);
  const rows: string[][] = [];
  const subscription = client.page.getByRole('region', { name: 'Subscriptions' }).getByRole('switch');
  await client.subscribe('#');
  for (let index = 0; index <= Number(values.rounds); index += 1) {
    if (index > 0) await subscription.first().check({ force: true });
    await delay(500);
    await client.openView(values.view);
    await client.page.bringToFront();
    const isProfiled = values.profile !== undefined && index === Number(values.rounds);
    if (isProfiled) await client.startProfile();
    const cpuBegan = await browserCpuMs(client);
    const page = await round(async () => (await client.drain()).messages, publish, messages);
    if (isProfiled && values.profile !== undefined) writeFileSync(values.profile, await client.stopProfile());
    const cpuPage = (await browserCpuMs(client)) - cpuBegan;
    await client.openView('messages');
    await subscription.first().uncheck({ force: true });
    await delay(500);
    await bare.subscribe();
    const cpuOther = await browserCpuMs(client);
    const other = await round(() => bare.count(), publish, messages);
    const cpuBare = (await browserCpuMs(client)) - cpuOther;
    await bare.unsubscribe();
    // The first round warms both up.
    if (index > 0)
      rows.push([
        String(index),
        String(page),
        String(other),
        (page / other).toFixed(2),
        ...[cpuPage, cpuBare].map((ms) => ((ms * 1_000) / messages).toFixed(0)),
      ]);
  }
  const median = (column: number): number =>
    rows.map((row) => Number(row[column])).sort((a, b) => a - b)[Math.floor(rows.length / 2)] ?? 0;
  rows.push([
    'median',
    String(median(1)),
    String(median(2)),
    median(3).toFixed(2),
    String(median(4)),
    String(median(5)),
  ]);
  process.stdout.write(`${machineText(client.browserVersion)} ${loadText()}\n\n`);
  process.stdout.write(
    `${markdownTable([['round', 'web client, messages/s', 'mqtt.js, messages/s', 'ratio', 'browser µs/message', 'with mqtt.js'], ...rows])}\n`,
  );
} finally {
  await publisher.endAsync();
  await client.close();
  await broker.stop();
}
