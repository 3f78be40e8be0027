import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningDoors, startDoors } from '@apus/cli';
import { needsWorkerd, startLocal } from '@apus/cloudflare/testing';
import mqtt, { type MqttClient } from 'mqtt';
import type { Browser, Page } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Skip } from '../support/skips.ts';
import { unique } from '../support/unique.ts';
import { launchChromium, needsBrowser } from './chromium.ts';
import { eventually } from './support/eventually.ts';

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL('../../examples/run.mjs', import.meta.url));
const CHAT_STREAMS = fileURLToPath(new URL('../../examples/chat/streams.json', import.meta.url));
const ROOT = fileURLToPath(new URL('../../extensions/react/test/page', import.meta.url));
const SOURCES = { conditions: ['source', 'browser', 'module', 'import', 'default'] };

describe('hooks of @apus/react, in Chromium', needsBrowser(), () => {
  let directory: string;
  let node: RunningDoors;
  let browser: Browser;
  let backend: MqttClient;
  const sites: PreviewServer[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'apus-react-'));
    const streams = [
      { name: 'chat', topicFilter: 'chat/+' },
      { name: 'prices', topicFilter: 'prices/+', snapshot: true },
    ];
    node = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent', streams });
    backend = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    for (const site of sites) await site.close();
    await backend?.endAsync(true);
    await node?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** The folder with the page of an example. */
  async function built(example: string): Promise<string> {
    const folder = join(directory, example);
    await run(process.execPath, [EXAMPLES, example, '--build', folder]);
    return folder;
  }

  async function serve(outDir: string): Promise<string> {
    const site = await preview({
      root: directory,
      logLevel: 'error',
      configFile: false,
      build: { outDir },
      preview: { host: '127.0.0.1', port: 0 },
    });
    sites.push(site);
    return site.resolvedUrls?.local[0] ?? '';
  }

  /** A page whose console must stay empty: React logs the mistakes of components there. */
  async function open(site: string, parameters: Record<string, string>): Promise<[Page, string[]]> {
    const page = await (await browser.newContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // A browser with windows asks a site for its icon by itself.
      if (message.location().url.endsWith('/favicon.ico')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${site}?${new URLSearchParams(parameters)}`);
    return [page, complaints];
  }

  async function subscriptionsOf(clientId: string): Promise<string[] | 'gone'> {
    const api = new URL(node.url).origin.replace('ws:', 'http:');
    const response = await fetch(`${api}/api/v5/clients/${clientId}/subscriptions`);
    if (response.status === 404) return 'gone';
    const subscriptions = (await response.json()) as { topic: string }[];
    return subscriptions.map(({ topic }) => topic).sort();
  }

  describe('components that mount and unmount in StrictMode', () => {
    let site: string;

    beforeAll(async () => {
      const outDir = join(directory, 'hooks');
      await build({
        root: ROOT,
        mode: 'development',
        logLevel: 'error',
        configFile: false,
        resolve: SOURCES,
        define: { 'process.env.NODE_ENV': '"development"' },
        build: { outDir },
      });
      site = await serve(outDir);
    });

    const press = async (page: Page, name: string) =>
      await page.getByRole('button', { name, exact: true }).click();

    it('share one connection and one subscription, and leave nothing behind', async () => {
      const id = unique('react');
      const [page, complaints] = await open(site, { url: node.url, id });
      await page.getByText('idle, clients made: 0').waitFor();
      await press(page, 'first');
      await page.getByText('connected, clients made: 1').waitFor();
      await page.getByText('first true:').waitFor();
      await press(page, 'second');
      for (const text of ['a', 'b', 'c', 'd']) await backend.publishAsync('react/news', text, { qos: 1 });
      await page.getByText('first true: b c d').waitFor();
      await page.getByText('second true: b c d').waitFor();
      await press(page, 'latest');
      await backend.publishAsync('react/prices/x', '1', { qos: 1, retain: true });
      await page.getByText('latest: react/prices/x 1 of 1').waitFor();
      expect(await subscriptionsOf(id)).toEqual(['react/news', 'react/prices/+']);
      await press(page, 'first');
      await press(page, 'latest');
      await expect.poll(() => subscriptionsOf(id)).toEqual(['react/news']);
      await page.getByText('second true: b c d').waitFor();
      await press(page, 'second');
      await expect.poll(() => subscriptionsOf(id)).toBe('gone');
      await page.getByText('idle, clients made: 1').waitFor();
      await press(page, 'first');
      await page.getByText('connected, clients made: 2').waitFor();
      await page.evaluate('unmount()');
      await expect.poll(() => subscriptionsOf(id)).toBe('gone');
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('make a member present while they are mounted, with its last data', async () => {
      const [ann, bob] = [unique('ann'), unique('bob')];
      const [page, complaints] = await open(site, { url: node.url, id: ann });
      const [other] = await open(site, { url: node.url, id: bob });
      await press(page, 'room');
      await press(other, 'room');
      await page.getByText(`members: ${ann}=idle ${bob}=idle`).waitFor();
      await press(other, 'busy');
      await page.getByText(`members: ${ann}=idle ${bob}=busy`).waitFor();
      await press(other, 'first');
      await press(other, 'room');
      await page.getByText(`members: ${ann}=idle`, { exact: false }).waitFor();
      await expect.poll(() => page.getByText(bob).count()).toBe(0);
      await page.context().close();
      await other.context().close();
      expect(complaints).toEqual([]);
    });

    it('publish, and are told of a refusal', async () => {
      const [page, complaints] = await open(site, { url: node.url, id: unique('publisher') });
      await press(page, 'publisher');
      await press(page, 'publish');
      await page.getByText('result: accepted').waitFor();
      await press(page, 'publish wrongly');
      await page.getByText('result: refused').waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  });

  /** `workerd` with the streams of the example. */
  async function startObjectDoor(): Promise<{ url: string; stop: () => Promise<void> }> {
    const { streams } = JSON.parse(await readFile(CHAT_STREAMS, 'utf8'));
    const texts = { CONFIGURATION: JSON.stringify({ allowedOrigins: ['loopback'], streams }) };
    const folder = join(directory, 'workerd');
    const { port, stop } = await startLocal({ folder, port: 0, texts, log: () => {} });
    return { url: `ws://127.0.0.1:${port}/mqtt`, stop };
  }

  const doors: readonly (readonly [door: string, Skip])[] = [
    ['gateway', { skip: false }],
    ['object', needsWorkerd],
  ];

  describe.each(doors)('the example "chat" at the %s door', (door, needed) => {
    let site: string;
    let url: string;
    let stop = async () => {};

    beforeAll(async () => {
      if (needed.skip) return;
      site = await serve(await built('chat'));
      if (door === 'object') ({ url, stop } = await startObjectDoor());
      else url = node.gateway?.url ?? '';
    });

    afterAll(() => stop());

    async function enter(name: string, room: string): Promise<[Page, string[]]> {
      const [page, complaints] = await open(site, { url, room });
      await introduce(page, name);
      return [page, complaints];
    }

    async function introduce(page: Page, name: string): Promise<void> {
      await page.getByLabel('Your name').fill(name);
      await page.getByRole('button', { name: 'Enter' }).click();
      await page.getByText('connected').waitFor();
    }

    const say = async (page: Page, text: string) => {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    const linesOf = (page: Page) =>
      page.getByLabel('Messages').locator('li:not([aria-hidden])').allTextContents();
    const membersOf = (page: Page) => page.getByLabel('Members').locator('li').allTextContents();

    it('gives newcomers the last messages, and shows who is present and who is typing', needed, async () => {
      const room = unique('room');
      const [ann, complaints] = await enter('Ann', room);
      await say(ann, 'Hello');
      await expect.poll(() => linesOf(ann)).toEqual(['Ann Hello']);
      const [bob] = await enter('Bob', room);
      await expect.poll(() => linesOf(bob)).toEqual(['Ann Hello']);
      await expect.poll(() => membersOf(ann)).toEqual(['Ann', 'Bob']);
      await bob.getByLabel('Message', { exact: true }).fill('I am');
      await expect.poll(() => membersOf(ann)).toEqual(['Ann', 'Bob …']);
      await say(bob, 'Hi, Ann');
      await expect.poll(() => linesOf(ann)).toEqual(['Ann Hello', 'Bob Hi, Ann']);
      await expect.poll(() => membersOf(ann)).toEqual(['Ann', 'Bob']);
      // The page shows another client's malformed payload as it is, and keeps working.
      const stranger = await mqtt.connectAsync(door === 'object' ? url : node.url, { protocolVersion: 5 });
      await stranger.publishAsync(`chat/${room}`, '<b>no JSON', { qos: 1 });
      await stranger.endAsync();
      await expect.poll(async () => (await linesOf(ann)).at(-1)).toBe('? <b>no JSON');
      const lines = await linesOf(ann);
      await ann.reload();
      await expect.poll(() => membersOf(bob)).toEqual(['Bob']);
      await introduce(ann, 'Ann');
      await expect.poll(() => linesOf(ann)).toEqual(lines);
      await expect.poll(() => membersOf(bob)).toEqual(['Ann', 'Bob']);
      expect(complaints).toEqual([]);
      await ann.context().close();
      await bob.context().close();
    });
  });

  describe('the example "dashboard"', () => {
    const priceOf = (page: Page, symbol: string) =>
      page
        .locator('tr', { has: page.getByRole('button', { name: symbol }) })
        .locator('td')
        .first();
    const publish = async (symbol: string, price: number) =>
      await backend.publishAsync(`prices/${symbol}`, JSON.stringify({ price, change: 1 }), { qos: 1 });

    it('has the last price of everything when it opens, and the last prices of one item at a click', async () => {
      for (const price of [1, 2, 3]) await publish('ONE', price);
      await publish('TWO', 20);
      await backend.publishAsync('prices/ODD', 'no JSON', { qos: 1 });
      const site = await serve(await built('dashboard'));
      const [page, complaints] = await open(site, { url: node.gateway?.url ?? '' });
      await expect.poll(() => priceOf(page, 'ONE').textContent()).toBe('3.00');
      await eventually(() => priceOf(page, 'TWO').textContent()).toBe('20.00');
      await eventually(() => priceOf(page, 'ODD').textContent()).toBe('–');
      await publish('TWO', 21);
      await expect.poll(() => priceOf(page, 'TWO').textContent()).toBe('21.00');
      await page.getByRole('button', { name: 'ONE' }).click();
      await page.getByText('ONE: 3 prices, 1.00 to 3.00').waitFor();
      await publish('ONE', 4);
      await page.getByText('ONE: 4 prices, 1.00 to 4.00').waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  });
});
