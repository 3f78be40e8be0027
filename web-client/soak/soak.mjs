#!/usr/bin/env node
// The web client under a steady stream: `npm run soak -w web-client`, `-- --help` for what it can be told.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBroker } from './broker.mjs';
import { SoakPage } from './browser.mjs';
import { readOptions } from './options.mjs';
import { markdownOf, verdictOf } from './verdict.mjs';

/** Memory is measured this often. A forced collection stops the page, which is not something that users meet. */
const COLLECT_EVERY_SECONDS = 5;

/** After the last message, for those that are under way. */
const SETTLE_MS = 3_000;

const options = readOptions(process.argv.slice(2));
console.error('Building …');
const broker = await startBroker();
let page;
let generator;
try {
  page = await SoakPage.open(broker.pageUrl);
  generator = fork(
    fileURLToPath(new URL('./generator.mjs', import.meta.url)),
    [JSON.stringify({ url: broker.mqttUrl, rate: options.rate, topics: options.topics })],
    { stdio: 'inherit' },
  );
  await once(generator, 'message');
  await page.subscribe('soak/#');
  if (options.views.includes('charts')) await page.addCharts('soak/0/state');
  const run = await measure(page, generator);
  report(run);
} finally {
  generator?.kill();
  await page?.close();
  await broker.stop();
}

/** @returns {Promise<import('./verdict.mjs').Run>} */
async function measure(soaked, source) {
  const { messages: before } = await soaked.drain();
  source.send({ type: 'start' });
  if (options.profile !== undefined) await soaked.startProfile();
  const seconds = [];
  for (let second = 0; second < options.seconds; second += 1) {
    const view = options.views[Math.floor((second * options.views.length) / options.seconds)];
    const isNewView = view !== seconds.at(-1)?.view;
    if (isNewView) await soaked.openView(view);
    const [measured] = await Promise.all([oneSecond(soaked, second), delay(1_000)]);
    seconds.push({ view, ...measured });
    if ((second + 1) % 10 === 0) console.error(progressOf(seconds));
  }
  if (options.profile !== undefined) {
    writeFileSync(options.profile, JSON.stringify(await soaked.stopProfile()));
  }
  source.send({ type: 'stop' });
  const [{ sent }] = await once(source, 'message');
  await delay(SETTLE_MS);
  const { messages, skipped } = await soaked.drain();
  return { seconds, sent, received: messages - before, skipped };
}

async function oneSecond(soaked, second) {
  await delay(950);
  const { frames, longTasks } = await soaked.drain();
  if ((second + 1) % COLLECT_EVERY_SECONDS !== 0) return { frames, longTasks };
  const heapBytes = await soaked.heapBytes();
  const residentBytes = soaked.residentBytes();
  // The frames that waited for the collection are not counted.
  await soaked.drain();
  return { frames, longTasks, heapBytes, residentBytes };
}

function progressOf(seconds) {
  const { view } = seconds.at(-1);
  const longest = Math.max(0, ...seconds.slice(-10).flatMap(({ frames }) => frames));
  const heap = seconds.findLast(({ heapBytes }) => heapBytes !== undefined)?.heapBytes ?? 0;
  return `${seconds.length} s, ${view}: longest frame ${Math.round(longest)} ms, heap ${Math.round(heap / 1024 / 1024)} MiB`;
}

function report(run) {
  const { problems, rows } = verdictOf(run);
  const table = markdownOf(rows);
  const command = `npm run soak -w web-client -- --seconds ${options.seconds} --rate ${options.rate} --topics ${options.topics} --views ${options.views.join(',')}`;
  const verdict =
    problems.length === 0 ? 'No frame froze, memory is flat, nothing was lost.' : problems.join('; ');
  const text = `\`${command}\`\n\n${table}\n\n${verdict}\n`;
  console.log(text);
  if (options.output !== undefined) writeFileSync(options.output, text);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
