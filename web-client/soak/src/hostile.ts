// The frames in which hostile payloads are shown: `npm run soak:hostile -w web-client`.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as mqtt from 'mqtt';
import { Broker } from './broker.ts';
import { ClientPage } from './client-page.ts';
import { loadText, machineText } from './machine.ts';
import { highest } from './statistics.ts';
import { markdownTable, milliseconds } from './words.ts';

const names = (count: number): string => Array.from({ length: count }, (_, n) => `"n${n}":1`).join();

const PAYLOADS: Readonly<Record<string, string | Buffer>> = {
  'JSON of 3,000 levels': '['.repeat(3_000) + ']'.repeat(3_000),
  '393 KB with 1,000 levels': `${'['.repeat(1_000)}${'1,'.repeat(195_000)}1${']'.repeat(1_000)}`,
  '19,000 numbers below 199 levels': `${'['.repeat(199)}${'1,'.repeat(19_000)}1${']'.repeat(199)}`,
  '1 MB on one line, one text': `{"a":"${'x1'.repeat(500_000)}"}`,
  '1 MB on one line, many objects': `[${'{"name":"abcdefghijklmnopqrstuvwxyz1"},'.repeat(26_000)}1]`,
  '140,000 names': `{${names(140_000)}}`,
  '19,000 names': `{${names(19_000)}}`,
  '1.9 MB of one character with its marks': `a${'\u0301'.repeat(950_000)}1`,
  '1.9 MB of joined emoji': `1${'👩‍👩‍👧‍👦'.repeat(75_000)}`,
  '1.8 MB that cannot be seen': '\u200b'.repeat(600_000),
  'CBOR of 100,000 levels': Buffer.alloc(100_000, 0x81),
  'CBOR of 1.8 million numbers': Buffer.concat([Buffer.from('9a001c0000', 'hex'), Buffer.alloc(0x1c0000, 1)]),
  'MessagePack of 100,000 levels': Buffer.alloc(100_000, 0x91),
  'MessagePack of 1.8 million numbers': Buffer.concat([
    Buffer.from('dd001c0000', 'hex'),
    Buffer.alloc(0x1c0000, 1),
  ]),
};

/** As long as a look is drawn, on a busy machine too. */
const DRAWN_MS = 700;

interface Shown {
  readonly frameMs: number;
  /** Of all tasks together, of which the longest is a part. */
  readonly threadMs: number;
}

/** The longest frame by the clock, and the processor time of the page's thread, while this is done. */
async function during(client: ClientPage, action: () => Promise<void>): Promise<Shown> {
  await client.drain();
  const before = await client.threadSeconds();
  await action();
  await client.page.waitForTimeout(DRAWN_MS);
  const threadMs = ((await client.threadSeconds()) - before) * 1_000;
  return { frameMs: highest((await client.drain()).frames), threadMs };
}

async function show(
  client: ClientPage,
  publisher: mqtt.MqttClient,
  payload: string | Buffer,
): Promise<Shown[]> {
  const { page } = client;
  const look = (name: string) => page.getByRole('radiogroup', { name: 'How to show it' }).getByText(name);
  await publisher.publishAsync('hostile/1', payload, { qos: 1 });
  await page.getByRole('button', { name: 'Clear the list' }).click();
  const row = page.getByRole('row').filter({ hasText: 'hostile/1' }).first();
  const came = await during(client, async () => {
    await publisher.publishAsync('hostile/1', payload, { qos: 1 });
    await row.waitFor();
  });
  const opened = await during(client, () => row.click());
  const text = await during(client, () => look('Text').click());
  const changes = await during(client, () => look('Changes').click());
  await page.getByRole('button', { name: 'Close the details' }).click();
  return [came, opened, text, changes];
}

const { values } = parseArgs({ options: { output: { type: 'string' } } });
process.stderr.write('Building …\n');
const broker = await Broker.start();
const client = await ClientPage.open(broker.pageUrl, 'node');
const publisher = await mqtt.connectAsync(broker.mqttUrl, { protocolVersion: 5 });
try {
  await client.subscribe('hostile/#');
  // The first details of a page fetch their code.
  await show(client, publisher, '{"warm":1}');
  const rows: string[][] = [];
  for (const [name, payload] of Object.entries(PAYLOADS)) {
    const shown = await show(client, publisher, payload);
    rows.push([
      name,
      ...shown.map(({ frameMs, threadMs }) => `${milliseconds(frameMs)} (${milliseconds(threadMs)})`),
    ]);
    process.stderr.write(`${rows.at(-1)?.join(', ')}\n`);
  }
  const text = [
    '`npm run soak:hostile -w web-client`',
    `${machineText(client.browserVersion)}. ${loadText()}`,
    markdownTable([
      ['longest frame (processor time in all)', 'comes', 'opened', 'as text', 'as changes'],
      ...rows,
    ]),
  ].join('\n\n');
  process.stdout.write(`${text}\n`);
  if (values.output !== undefined) writeFileSync(values.output, `${text}\n`);
} finally {
  await publisher.endAsync(true);
  await client.close();
  await broker.stop();
}
