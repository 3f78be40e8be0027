import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningDoors, startDoors } from '@apus/cli';
import mqtt from 'mqtt';
import type { Browser, Page } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { launchChromium, needsBrowser } from './chromium.ts';
import { eventually } from './support/eventually.ts';
import { slowDown } from './support/slowdown.ts';

const root = fileURLToPath(new URL('./app', import.meta.url));
/**
 * A page that is built with Vite and uses stock mqtt.js. Its origin is not the broker's, as with any app. Skipped on a
 * machine without a browser, except in CI, where that is a failure.
 */
describe('a page with stock mqtt.js and the transport, in Chromium', needsBrowser(), () => {
  let outDir: string;
  let node: RunningDoors;
  let site: PreviewServer;
  let browser: Browser;

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'apus-browser-'));
    const common = { root, logLevel: 'error', configFile: false, build: { outDir } } as const;
    await build({ ...common, resolve: { conditions: ['source', 'browser', 'module', 'import', 'default'] } });
    site = await preview({ ...common, preview: { host: '127.0.0.1', port: 0 } });
    node = await startDoors({ port: 0, gatewayPort: 0 });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await node?.stop();
    await rm(outDir, { recursive: true, force: true });
  });

  async function open(version: 4 | 5): Promise<Page> {
    const page = await browser.newPage();
    await slowDown(page);
    const url = new URL(site.resolvedUrls?.local[0] ?? '');
    url.search = new URLSearchParams({ url: node.gateway?.url ?? '', version: String(version) }).toString();
    await page.goto(url.href);
    return page;
  }

  it.each([4, 5] as const)(
    'publishes and receives at every QoS, retained too, over MQTT version %i',
    async (version) => {
      const page = await open(version);
      await page.getByText('browser/bye done qos 1').waitFor();
      await eventually(() => page.locator('#log li').allTextContents()).toEqual([
        'connected',
        'browser/retained kept qos 1 retained',
        'browser/0 hello qos 0',
        'browser/1 hello qos 1',
        'browser/2 hello qos 2',
        'browser/bye done qos 1',
      ]);
      await page.evaluate('end()');
      await page.getByText('ended').waitFor();
      await page.close();
    },
  );

  it('receives the messages of a client of the node door', async () => {
    const page = await open(5);
    await page.getByText('browser/bye done').waitFor();
    const publisher = await mqtt.connectAsync(node.url);
    await publisher.publishAsync('browser/other', 'from the node door', { qos: 1 });
    await page.getByText('browser/other from the node door qos 1').waitFor();
    await publisher.endAsync();
    await page.close();
  });
});
