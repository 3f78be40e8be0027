// The web client under a steady stream: `npm run soak -w web-client`; `-- --help` lists the options.
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Broker } from './broker.ts';
import { ClientPage } from './client-page.ts';
import { loadText, machineText } from './machine.ts';
import { readOptions, type SoakOptions } from './options.ts';
import { type PauseSeen, whilePaused } from './pause.ts';
import { phasesOf } from './phases.ts';
import { StreamGenerator } from './stream-generator.ts';
import { factsOf, rowsOf } from './table.ts';
import { problemsOf, type Run } from './verdict.ts';
import { Watch } from './watch.ts';
import { markdownTable } from './words.ts';

/** The wait after the last message, for messages in flight. */
const ARRIVAL_MS = 10_000;
const ARRIVAL_STEP_MS = 250;

async function main(options: SoakOptions): Promise<void> {
  process.stderr.write('Building …\n');
  const broker = await Broker.start();
  let client: ClientPage | undefined;
  let generator: StreamGenerator | undefined;
  try {
    client = await ClientPage.open(broker.pageUrl, options.door);
    const { rate, topics } = options;
    generator = await StreamGenerator.connect({ url: broker.mqttUrl, rate, topics });
    await client.subscribe('soak/#');
    if (options.views.includes('charts')) await client.addCharts('soak/0/state', '$.value');
    report(options, client.browserVersion, await measure(client, generator, options));
  } finally {
    generator?.kill();
    await client?.close();
    await broker.stop();
  }
}

async function measure(client: ClientPage, generator: StreamGenerator, options: SoakOptions): Promise<Run> {
  const watch = new Watch(client);
  const before = await client.drain();
  generator.start();
  if (options.profile !== undefined) await client.startProfile();
  let pause: PauseSeen | undefined;
  let openingMs = 0;
  for (const { view, isPaused, seconds } of phasesOf(options.views, options.seconds)) {
    openingMs = Math.max(openingMs, await client.switchView(view));
    const watched = async (): Promise<void> => {
      // By the clock: on a busy machine the page is slow to answer.
      const untilMs = performance.now() + seconds * 1_000;
      while (performance.now() < untilMs) await watch.next(isPaused ? `${view}, paused` : view);
    };
    if (isPaused) pause = await whilePaused(client, watched);
    else await watched();
  }
  if (options.profile !== undefined) writeFileSync(options.profile, await client.stopProfile());
  const { sent, elapsedMs } = await generator.stop();
  const after = await received(client, before.messages + sent);
  return {
    seconds: watch.seconds,
    sent,
    sendingMs: elapsedMs,
    received: after.messages - before.messages,
    skipped: after.skipped,
    openingMs,
    pause,
    ...(await keptIn(client)),
  };
}

/** Waits until this many have arrived, or for as long as that can take. */
async function received(
  client: ClientPage,
  messages: number,
): Promise<{ messages: number; skipped: number }> {
  for (let waitedMs = 0; ; waitedMs += ARRIVAL_STEP_MS) {
    const seen = await client.drain();
    if (seen.messages >= messages || waitedMs >= ARRIVAL_MS) return seen;
    await delay(ARRIVAL_STEP_MS);
  }
}

/** The counts that the views show. */
async function keptIn(client: ClientPage): Promise<Pick<Run, 'messagesKept' | 'packetsKept'>> {
  const numberIn = async (view: string, words: RegExp): Promise<number> => {
    await client.openView(view);
    const text = await client.page.getByText(words).first().textContent();
    return Number(text?.replaceAll(/\D/g, ''));
  };
  return {
    messagesKept: await numberIn('messages', /^[\d,]+ messages?$/),
    packetsKept: await numberIn('wire', /^[\d,]+ packets?$/),
  };
}

function report(options: SoakOptions, browserVersion: string, run: Run): void {
  const { seconds, rate, door, topics, views } = options;
  const minutes = Math.round((seconds / 60) * 100) / 100;
  const problems = problemsOf(run, rate);
  const text = [
    `\`npm run soak -w web-client -- --minutes ${minutes} --rate ${rate} --door ${door} --topics ${topics} --views ${views.join(',')}\``,
    `${machineText(browserVersion)}. ${loadText()}`,
    markdownTable(rowsOf(run)),
    factsOf(run).join(' '),
    problems.length === 0
      ? 'No frame froze, memory is flat, nothing was lost.'
      : `Not good enough: ${problems.join('; ')}.`,
  ].join('\n\n');
  process.stdout.write(`${text}\n`);
  if (options.output !== undefined) writeFileSync(options.output, `${text}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

const options = readOptions(process.argv.slice(2));
if (options !== undefined) await main(options);
