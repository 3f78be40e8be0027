// The topic tree with very many topics: `npm run soak:tree -w web-client`; `-- --help` lists the options.
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { matches } from '@apus/mqtt/topic';
import { Broker } from './broker.ts';
import { ClientPage } from './client-page.ts';
import { loadText, machineText } from './machine.ts';
import { wholeNumber } from './options.ts';
import { painted } from './painted.ts';
import { StockClient } from './stock-client.ts';
import { StreamGenerator } from './stream-generator.ts';
import { SITE, topicsOf } from './topics.ts';
import {
  framesSince,
  memoryText,
  repeated,
  type Step,
  scrolled,
  searched,
  untilCount,
} from './tree-steps.ts';
import { count, markdownTable, milliseconds } from './words.ts';

const HELP = `Usage: npm run soak:tree -w web-client -- [FLAGS]

Publishes very many retained messages to a broker, opens the topic tree in headless Chromium, and measures how it fills,
searches, opens, closes and scrolls, and how it clears the retained messages; a stock client then asks the broker
whether they are gone. Exits with 1 when something took too long to be seen, or was wrong.

  --topics COUNT     Default: 100,000.
  --output FILE      Writes the table there too.
`;

/** A retained message outside of the cleared level. */
const KEPT = 'kept/message';

/** More than the broker counts for one of them. */
const RETAINED_BYTES_MAX = 1024;

const LIVE_SECONDS = 20;
const LIVE_RATE = 5_000;

async function main(topicsCount: number, output: string | undefined): Promise<void> {
  process.stderr.write('Building …\n');
  const bytesMax = (topicsCount + 1) * RETAINED_BYTES_MAX;
  const broker = await Broker.start(['--identity-retained-bytes-max', String(bytesMax)]);
  const stock = await StockClient.connect(broker.mqttUrl);
  let client: ClientPage | undefined;
  try {
    const topics = topicsOf(topicsCount);
    process.stderr.write(`Publishing ${count(topics.length)} retained messages …\n`);
    await stock.publish([...topics, KEPT], (topic) => JSON.stringify({ topic, value: topic.length }), true);
    client = await ClientPage.open(broker.pageUrl, 'node');
    const steps = await measure(client, broker, stock, topics);
    report(steps, client.browserVersion, topicsCount, output);
  } finally {
    await client?.close();
    await stock.end();
    await broker.stop();
  }
}

async function measure(
  client: ClientPage,
  broker: Broker,
  stock: StockClient,
  topics: readonly string[],
): Promise<Step[]> {
  const steps: Step[] = [];
  const add = (name: string, text: string, problems: readonly string[] = []): void => {
    steps.push({ name, text, problems });
    process.stderr.write(`${name}: ${text}\n`);
  };
  const total = topics.length + 1;
  await client.openView('tree');
  add('before', await memoryText(client));
  add('fill', await fill(client, total));
  add('filled', await memoryText(client));
  for (const step of await searches(client, topics, total)) add(step.name, step.text, step.problems);
  for (const step of await openings(client)) add(step.name, step.text, step.problems);
  await painted(client, { type: 'press', label: 'Open all' });
  add('scroll through all that is open', await scrolled(client));
  add(`${count(LIVE_RATE)} messages a second into it, all open`, await live(client, broker));
  await painted(client, { type: 'press', label: 'Close all' });
  add('after all that', await memoryText(client));
  const cleared = await clear(client, topics.length);
  const left = await stock.retained('#');
  const isCleared = left.length === 1 && left[0] === KEPT;
  add('clear all below a level, after a confirmation', cleared);
  add(
    'left at the broker, as a stock client sees it',
    left.slice(0, 3).join(', '),
    isCleared ? [] : [`${count(left.length)} retained messages are left`],
  );
  return steps;
}

async function fill(client: ClientPage, total: number): Promise<string> {
  const beganAtMs = performance.now();
  await client.page.getByRole('button', { name: 'Subscribe to #' }).click();
  await untilCount(client, `${count(total)} topics`);
  const elapsedMs = performance.now() - beganAtMs;
  return `${count(total)} topics in ${milliseconds(Math.round(elapsedMs))}; ${await framesSince(client)}`;
}

async function searches(client: ClientPage, topics: readonly string[], total: number): Promise<Step[]> {
  const steps: Step[] = [];
  for (const text of ['machine-42/', 'temperature', 'plant-0/line-7/machine-7/state', 'nowhere']) {
    const found = topics.filter((topic) => topic.includes(text)).length;
    steps.push(await searched(client, text, found, total));
  }
  const filter = '+/+/line-3/+/speed';
  const found = topics.filter((topic) => matches(filter, topic)).length;
  return [...steps, await searched(client, filter, found, total)];
}

async function openings(client: ClientPage): Promise<Step[]> {
  const open = { type: 'press', label: 'Open all' } as const;
  const close = { type: 'press', label: 'Close all' } as const;
  const opened = await repeated(client, 'open all', open, close);
  await painted(client, open);
  const closed = await repeated(client, 'close all', close, open);
  await painted(client, close);
  return [opened, closed];
}

/** Publishes a stream to a hundred further topics. */
async function live(client: ClientPage, broker: Broker): Promise<string> {
  const generator = await StreamGenerator.connect({ url: broker.mqttUrl, rate: LIVE_RATE, topics: 100 });
  try {
    await client.drain();
    generator.start();
    await delay(LIVE_SECONDS * 1_000);
    const text = await framesSince(client);
    await generator.stop();
    return text;
  } finally {
    generator.kill();
  }
}

/** Selects the level, chooses to clear it, confirms, and waits for the end. */
async function clear(client: ClientPage, topics: number): Promise<string> {
  const { page } = client;
  await page.getByRole('treeitem').filter({ hasText: SITE }).first().click();
  await page.getByRole('button', { name: 'Clear retained messages …' }).click();
  const dialog = page.getByRole('dialog');
  await client.drain();
  const beganAtMs = performance.now();
  await dialog.getByRole('button', { name: `Clear ${count(topics)} topics` }).click();
  await dialog
    .getByRole('status')
    .getByText(`${count(topics)} of ${count(topics)} cleared. Done.`)
    .waitFor({ timeout: 600_000 });
  const elapsedMs = performance.now() - beganAtMs;
  const frames = await framesSince(client);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  return `${count(topics)} topics in ${milliseconds(Math.round(elapsedMs))}; ${frames}`;
}

function report(
  steps: readonly Step[],
  browserVersion: string,
  topics: number,
  output: string | undefined,
): void {
  const problems = steps.flatMap((step) => step.problems);
  const text = [
    `\`npm run soak:tree -w web-client -- --topics ${topics}\``,
    `${machineText(browserVersion)}. ${loadText()}`,
    markdownTable([['', 'measured'], ...steps.map((step) => [step.name, step.text])]),
    problems.length === 0
      ? 'All of it was seen at once, and it was right.'
      : `Not good enough: ${problems.join('; ')}.`,
  ].join('\n\n');
  process.stdout.write(`${text}\n`);
  if (output !== undefined) writeFileSync(output, `${text}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

const { values } = parseArgs({
  options: {
    topics: { type: 'string', default: '100000' },
    output: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else await main(wholeNumber('topics', values.topics), values.output);
