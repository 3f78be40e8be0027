import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mqtt from 'mqtt';
import type { Browser } from 'playwright-core';
import { type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium, whyNoBrowser } from './chromium.ts';
import { ClientPage, type PageOptions } from './support/client-page.ts';
import { BuiltClient, type Served } from './support/served-client.ts';

const skipped = whyNoBrowser();
const KEY = 'the-key-of-this-test-0123456789';

describe.skipIf(skipped !== undefined)(
  'the web client’s admin view, in Chromium',
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

    async function open(options: PageOptions & { readonly url?: string } = {}): Promise<ClientPage> {
      const client = await ClientPage.open(browser, `${options.url ?? served.pageUrl}#/admin`, options);
      opened.push(client);
      return client;
    }

    async function device(clientId: string): Promise<mqtt.MqttClient> {
      const client = await mqtt.connectAsync(served.nodeUrl, {
        protocolVersion: 5,
        clientId,
        reconnectPeriod: 0,
        properties: { sessionExpiryInterval: 60 },
      });
      onTestFinished(() => client.endAsync(true));
      return client;
    }

    it('shows who is connected, what they hold and how much passes, and disconnects one', async () => {
      const sensor = await device('greenhouse/sensor 1');
      await sensor.subscribeAsync('greenhouse/#', { qos: 1 });
      await sensor.publishAsync('greenhouse/temperature', '21.5', { qos: 1, retain: true });
      const client = await open();
      const { page } = client;
      const row = page.getByRole('row').filter({ hasText: 'greenhouse/sensor 1' });
      await row.getByText('127.0.0.1').waitFor();
      await row.getByText('node door').waitFor();
      await page.getByRole('row').filter({ hasText: 'this page' }).waitFor();
      await client.screenshot('admin-clients-light');
      expect(await client.accessibilityProblems()).toEqual([]);

      await page.getByLabel('Part of the client identifier').fill('greenhouse');
      await page.getByText('1 in all').waitFor();
      const reason = new Promise((resolve) =>
        sensor.on('disconnect', (packet) => resolve(packet.reasonCode)),
      );
      await row.getByRole('button', { name: 'Disconnect greenhouse/sensor 1' }).click();
      const dialog = page.getByRole('dialog', { name: 'Disconnect greenhouse/sensor 1' });
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot('admin-disconnect-light');
      await dialog.getByRole('button', { name: 'Disconnect', exact: true }).click();
      expect(await reason).toBe(0x98);
      await row.getByText('not connected').waitFor();

      await page.getByRole('tab', { name: 'Subscriptions' }).click();
      await page.getByLabel('A topic: who would get it?').fill('greenhouse/door');
      await page.getByRole('row', { name: /greenhouse\/# greenhouse\/sensor 1 1/ }).waitFor();
      await client.screenshot('admin-subscriptions-light');

      await page.getByRole('tab', { name: 'Retained messages' }).click();
      await page.getByLabel('A topic filter').fill('greenhouse/#');
      const retained = page.getByRole('row').filter({ hasText: 'greenhouse/temperature' });
      await retained.getByText('4 B').waitFor();
      await retained.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('No retained message fits.').waitFor();
      await client.screenshot('admin-retained-light');
    });

    it('asks for the key where the broker wants one, and stores it nowhere', async () => {
      const file = join(built.directory, 'api.key');
      await writeFile(file, `${KEY}\n`);
      const guarded = await built.serve(['--allow-anonymous', '--host', '127.0.0.1', '--api-key-file', file]);
      onTestFinished(() => guarded.stop());
      const client = await open({ url: guarded.pageUrl });
      const { page } = client;
      await page.getByLabel('Key of the API').fill('a wrong one');
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByRole('alert').first().getByText('The key is not right').waitFor();
      // A refusal is an error to the console.
      client.complaints.length = 0;
      await page.getByLabel('Key of the API').fill(KEY);
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByRole('row').filter({ hasText: 'this page' }).waitFor();
      await client.openView('Costs');
      await client.openView('Admin');
      await page.getByRole('row').filter({ hasText: 'this page' }).waitFor();
      client.complaints.length = 0;
      expect(await client.stored()).not.toContain(KEY);
      expect(page.url()).not.toContain(KEY);
    });

    it('says how to open an API that is closed', async () => {
      const closed = await built.serve(['--allow-anonymous']);
      onTestFinished(() => closed.stop());
      const client = await open({ url: closed.pageUrl });
      await client.page.getByText('The API of this broker is closed').waitFor();
      await client.page.getByText('--api-key-file api.key', { exact: false }).waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot('admin-closed-light');
    });

    it.each([
      ['dark', 1440],
      ['light', 390],
    ] as const)('looks right in %s colours at %i pixels', async (colorScheme, width) => {
      await device('somebody else');
      const client = await open({ colorScheme, width, height: 844 });
      await client.page.getByRole('row').filter({ hasText: 'somebody else' }).waitFor();
      expect(await client.overflow()).toBeLessThanOrEqual(0);
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`admin-${colorScheme}-${width}`);
    });

    describe('from static files', () => {
      let site: PreviewServer;

      beforeAll(async () => {
        const common = { root: built.directory, base: '/', configFile: false, logLevel: 'error' } as const;
        const where = { host: '127.0.0.1', port: 0 };
        site = await preview({ ...common, build: { outDir: built.page }, preview: where });
      });
      afterAll(async () => site?.close());

      it('leads to CloudWatch, where a deployment tells of itself', async () => {
        const url = site.resolvedUrls?.local[0] ?? '';
        const client = await ClientPage.open(browser, 'about:blank');
        opened.push(client);
        const { page } = client;
        const dashboardUrl = 'https://eu-west-1.console.aws.amazon.com/cloudwatch/home#dashboards:name=Apus';
        const endpoints = [{ door: 'gateway', url: served.gatewayUrl, name: 'Production' }];
        await page.route('**/config.json', (route) => route.fulfill({ json: { endpoints, dashboardUrl } }));
        await page.goto(`${url}#/admin`);
        const link = page.getByRole('link', { name: 'Open the dashboard in CloudWatch' });
        expect(await link.getAttribute('href')).toBe(dashboardUrl);
        expect(await client.accessibilityProblems()).toEqual([]);
        await client.screenshot('admin-cloud-light');
      });
    });
  },
);
