// `npm run screenshot`: the picture of the README, of the page at a broker of its own while messages come. It needs
// Chromium (`npm run test:prepare`); APUS_CHROMIUM=PATH takes another one.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import mqtt from 'mqtt';
import { chromium } from 'playwright-core';
import { PROGRAMS } from '../.ci/programs.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PICTURE = join(ROOT, 'docs', 'web-client.png');
const BYTES_MAX = 200_000;
const MESSAGES = 240;
const INTERVAL_MS = 25;

const executablePath = [
  process.env.APUS_CHROMIUM,
  ...(PROGRAMS.browser.commands[0] ?? []).flatMap((name) =>
    (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  ),
].find((path) => path !== undefined && existsSync(path));
if (executablePath === undefined)
  throw new Error('There is no Chromium: `npm run test:prepare` installs one.');

const broker = spawn(
  process.execPath,
  [
    join(ROOT, 'packages', 'cli', 'dist', 'apus.js'),
    'serve',
    '--port',
    '0',
    '--no-gateway',
    '--log-level',
    'error',
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const { MQTT: url = '', page: pageUrl = '' } = await addressesOf(broker);
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(`${pageUrl}#/messages`);
  await page.getByLabel('Topic filter', { exact: true }).fill('#');
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await page.getByRole('button', { name: 'Edit #', exact: true }).waitFor();
  await publishAll(url);
  await page.getByText('orders/1042').first().click();
  await page.getByRole('treeitem').filter({ hasText: 'total:' }).waitFor();
  await page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
  broker.kill('SIGTERM');
}
const { size } = statSync(PICTURE);
if (size > BYTES_MAX) throw new Error(`${PICTURE} has ${size} bytes; ${BYTES_MAX} are the most.`);
console.log(`${PICTURE}: ${size} bytes.`);

/** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} child */
async function addressesOf({ stdout }) {
  /** @type {Record<string, string>} */
  const addresses = {};
  for await (const line of createInterface({ input: stdout })) {
    const [, name, address] = /^\s+(MQTT|page)\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined && address !== undefined) addresses[name] = address;
    if (line.startsWith('Stop it')) break;
  }
  return addresses;
}

/** Some seconds of what an app of rooms, meters and orders says. @param {string} url */
async function publishAll(url) {
  const client = await mqtt.connectAsync(url, { clientId: 'backend' });
  for (let count = 0; count < MESSAGES; count += 1) {
    const [topic, payload] = messageOf(count);
    await client.publishAsync(topic, JSON.stringify(payload), { qos: /** @type {0 | 1} */ (count % 2) });
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
  const order = { id: 1042, state: 'paid', total: 84.5, items: [{ sku: 'lamp', count: 2 }] };
  await client.publishAsync('orders/1042', JSON.stringify(order), { qos: 1, retain: true });
  await client.endAsync();
}

/** @param {number} count @returns {readonly [string, object]} */
function messageOf(count) {
  const wave = Math.sin(count / 12);
  if (count % 5 === 4)
    return [`chat/room-${(count % 3) + 1}`, { from: ['ada', 'bob', 'cy'][count % 3], text: 'Hello' }];
  const room = ['kitchen', 'hall', 'office'][count % 3];
  return [`home/${room}/climate`, { celsius: Number((20.5 + wave).toFixed(1)), humidity: 40 + (count % 7) }];
}
