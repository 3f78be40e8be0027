import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, whyNoBrowser } from './chromium.ts';
import { ClientPage, type PageOptions } from './support/client-page.ts';
import { BuiltClient, type Served } from './support/served-client.ts';

const skipped = whyNoBrowser();

describe.skipIf(skipped !== undefined)(
  'the first minute with the web client, in Chromium',
  { timeout: 60_000 },
  () => {
    let built: BuiltClient;
    let served: Served;
    let browser: Browser;
    const opened: ClientPage[] = [];

    beforeAll(async () => {
      built = await BuiltClient.build();
      served = await built.serve();
      browser = await launchChromium();
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      await served?.stop();
      await built?.remove();
    });

    afterEach(async ({ task }) => {
      const pages = opened.splice(0);
      if (task.result?.state === 'fail') await pages[0]?.screenshot(`failed-${task.name}`);
      for (const client of pages) await client.close();
      expect(pages.flatMap(({ complaints }) => complaints)).toEqual([]);
    });

    async function open(url = served.pageUrl, options: PageOptions = {}): Promise<ClientPage> {
      const client = await ClientPage.open(browser, url, options);
      opened.push(client);
      return client;
    }

    it('opens connected, and shows publish, subscribe, retained and every QoS by itself', async () => {
      const client = await open();
      await client.connected();
      const { page } = client;
      const newcomer = page.getByRole('region', { name: 'Received' });
      await newcomer.getByText('retained', { exact: true }).waitFor();
      for (const text of ['sent once', 'acknowledged', 'exactly once', 'kept for those who come later']) {
        await newcomer.getByText(text).first().waitFor();
      }
      const wire = await page
        .getByRole('region', { name: 'What A and the server say' })
        .locator('strong')
        .allTextContents();
      expect(wire.slice(0, 4)).toEqual(['CONNECT', 'CONNACK', 'SUBSCRIBE', 'SUBACK']);
      for (const name of ['PUBLISH', 'PUBACK', 'PUBREC', 'PUBREL', 'PUBCOMP']) expect(wire).toContain(name);
      await client.screenshot('start-light');
    });

    it('lets its reader publish, and shows what comes of it', async () => {
      const client = await open();
      const { page } = client;
      await page.getByText('and gets the retained message at once').waitFor();
      await page.getByLabel('Publish something yourself').fill('my own words');
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await expect
        .poll(() => page.getByRole('region', { name: 'Received' }).getByText('my own words').count())
        .toBe(2);
    });

    it.each(['Node door', 'Gateway door'])(
      'offers lines of code for the %s, with the address in them',
      async (door) => {
        const client = await open();
        await client.page.locator('label', { hasText: door }).click();
        const code = await client.page.locator('pre').textContent();
        expect(code).toContain(door === 'Node door' ? served.nodeUrl : served.gatewayUrl);
        await client.page.getByRole('button', { name: 'Copy the code' }).waitFor();
      },
    );

    it('offers lines that work: what they publish appears under Messages', async () => {
      const client = await open();
      const code = (await client.page.locator('pre').textContent()) ?? '';
      const file = join(built.directory, 'copied.mjs');
      await writeFile(file, code);
      await client.openView('Messages');
      await client.subscription('hello/#').getByText('QoS 1').waitFor();
      const child = spawn(process.execPath, [file]);
      const [line] = await Promise.all([
        new Promise((resolve) => child.stdout.once('data', (data: Buffer) => resolve(String(data).trim()))),
        client.rows('hello/world', 'Hello').waitFor(),
      ]);
      child.kill();
      expect(line).toBe('hello/world Hello');
    });

    it('opens in the dark and on a phone, without scrolling sideways', async () => {
      const client = await open(served.pageUrl, { width: 360, height: 740, colorScheme: 'dark' });
      await client.page.getByText('and gets the retained message at once').waitFor();
      expect(await client.overflow()).toBeLessThanOrEqual(0);
      await client.screenshot('start-phone-dark');
    });

    it.each(['light', 'dark'] as const)('satisfies axe in %s colours', async (colorScheme) => {
      const client = await open(served.pageUrl, { colorScheme });
      await client.page
        .getByRole('region', { name: 'Received' })
        .getByText('retained', { exact: true })
        .waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
    });

    describe('from static files', () => {
      let site: PreviewServer;

      beforeAll(async () => {
        // Below a folder, as a site may have it.
        const common = {
          root: built.directory,
          base: '/tools/mqtt/',
          configFile: false,
          logLevel: 'error',
        } as const;
        site = await preview({
          ...common,
          build: { outDir: built.page },
          preview: { host: '127.0.0.1', port: 0 },
        });
      });
      afterAll(async () => site?.close());

      it('asks where the broker is, finds out which door it is, and connects', async () => {
        const client = await open(site.resolvedUrls?.local[0] ?? '');
        const { page } = client;
        await page.getByRole('heading', { name: 'Where is your broker?' }).waitFor();
        await client.screenshot('start-endpoint-light');
        expect(await client.accessibilityProblems()).toEqual([]);
        await page.getByLabel('WebSocket URL').fill(served.gatewayUrl);
        await page.getByRole('button', { name: 'Connect', exact: true }).click();
        await client.connected();
        await page.getByRole('banner').getByText('gateway door').waitFor();
      });

      it('publishes nothing at a broker that is not its own before somebody says so', async () => {
        const client = await open(site.resolvedUrls?.local[0] ?? '');
        const { page } = client;
        await page.getByLabel('WebSocket URL').fill(served.nodeUrl);
        await page.getByRole('button', { name: 'Connect', exact: true }).click();
        await client.connected();
        await page.getByText('Nothing yet').first().waitFor();
        await page.getByRole('button', { name: 'Run the example' }).click();
        await page.getByRole('region', { name: 'Received' }).getByText('retained', { exact: true }).waitFor();
      });
    });
  },
);
