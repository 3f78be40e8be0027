import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import type { StaticSite } from './support/served-client.ts';

const KEY = 'the-key-of-this-test-0123456789';

clientSuite('the web client’s admin view', (suite) => {
  async function device(clientId: string): Promise<MqttClient> {
    const client = await connectAsync(suite.served.nodeUrl, {
      protocolVersion: 5,
      clientId,
      reconnectPeriod: 0,
      properties: { sessionExpiryInterval: 3_600 },
    });
    onTestFinished(() => client.endAsync(true));
    return client;
  }

  it('shows who is connected, what they hold and how much passes, and disconnects one', async () => {
    const sensor = await device('greenhouse/sensor 1');
    await sensor.subscribeAsync('greenhouse/#', { qos: 1 });
    await sensor.publishAsync('greenhouse/temperature', '21.5', { qos: 1, retain: true });
    const client = await suite.open('admin');
    const { page } = client;
    const row = page.getByRole('row').filter({ hasText: 'greenhouse/sensor 1' });
    await row.getByText('127.0.0.1').waitFor();
    await row.getByText('node door').waitFor();
    await page.getByRole('row').filter({ hasText: 'this page' }).waitFor();
    await client.screenshot('admin-clients-light');
    expect(await client.accessibilityProblems()).toEqual([]);

    await page.getByLabel('Part of the client identifier').fill('greenhouse');
    await page.getByText('1 in all').waitFor();
    const reason = new Promise((resolve) => sensor.on('disconnect', (packet) => resolve(packet.reasonCode)));
    await row.getByRole('button', { name: 'Disconnect greenhouse/sensor 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Disconnect greenhouse/sensor 1' });
    await dialog.waitFor();
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
    const file = join(suite.built.directory, 'api.key');
    await writeFile(file, `${KEY}\n`);
    const guarded = await suite.built.serve([
      '--allow-anonymous',
      '--host',
      '127.0.0.1',
      '--api-key-file',
      file,
    ]);
    onTestFinished(() => guarded.stop());
    const client = await suite.openUrl(`${guarded.pageUrl}#/admin`);
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
    const closed = await suite.built.serve(['--allow-anonymous']);
    onTestFinished(() => closed.stop());
    const client = await suite.openUrl(`${closed.pageUrl}#/admin`);
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
    const client = await suite.open('admin', { colorScheme, width, height: 844 });
    await client.page.getByRole('row').filter({ hasText: 'somebody else' }).waitFor();
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`admin-${colorScheme}-${width}`);
  });

  describe('from static files', () => {
    let site: StaticSite;

    beforeAll(async () => {
      site = await suite.built.serveFiles();
    });
    afterAll(async () => site?.stop());

    it('leads to CloudWatch, where a deployment tells of itself', async () => {
      const client = await suite.openUrl('about:blank');
      const { page } = client;
      const dashboardUrl = 'https://eu-west-1.console.aws.amazon.com/cloudwatch/home#dashboards:name=Apus';
      const endpoints = [{ door: 'gateway', url: suite.served.gatewayUrl, name: 'Production' }];
      await page.route('**/config.json', (route) => route.fulfill({ json: { endpoints, dashboardUrl } }));
      await page.goto(`${site.url}#/admin`);
      const link = page.getByRole('link', { name: 'Open the dashboard in CloudWatch' });
      await eventually(() => link.getAttribute('href')).toBe(dashboardUrl);
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot('admin-cloud-light');
    });
  });
});
