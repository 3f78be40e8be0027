import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningNode, startNode } from '@apus/node';
import type { Browser } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest';
import { HttpProxy, type ProxyRules } from '../support/http-proxy.ts';
import { launchChromium, needsBrowser } from './chromium.ts';
import { eventually } from './support/eventually.ts';
import { slowDown } from './support/slowdown.ts';

const root = fileURLToPath(new URL('./app', import.meta.url));

/** The page's origin is not the broker's: it may connect as `--allow-origin` allows it to open a WebSocket. */
describe('a page with stock mqtt.js behind a proxy without WebSockets, in Chromium', needsBrowser(), () => {
  let outDir: string;
  let node: RunningNode;
  let site: PreviewServer;
  let browser: Browser;

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'apus-browser-'));
    const common = { root, logLevel: 'error', configFile: false, build: { outDir } } as const;
    await build({ ...common, resolve: { conditions: ['source', 'browser', 'module', 'import', 'default'] } });
    site = await preview({ ...common, preview: { host: '127.0.0.1', port: 0 } });
    node = await startNode({ port: 0 });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await node?.stop();
    await rm(outDir, { recursive: true, force: true });
  });

  it.each<[string, ProxyRules]>([
    ['that refuses upgrades', { upgrade: 403 }],
    ['that never answers upgrades and holds responses back', { upgrade: 'hang', isBuffering: true }],
  ])('publishes and receives at every QoS behind a proxy %s', async (_, rules) => {
    const proxy = await HttpProxy.start(node.url, rules);
    onTestFinished(() => proxy.stop());
    const page = await browser.newPage();
    await slowDown(page);
    const url = new URL(site.resolvedUrls?.local[0] ?? '');
    url.search = new URLSearchParams({ url: proxy.url, version: '5', fallback: 'yes' }).toString();
    await page.goto(url.href);
    await page.getByText('browser/bye done qos 1').waitFor();
    await eventually(() => page.locator('#log li').allTextContents()).toEqual([
      'http',
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
  });
});
