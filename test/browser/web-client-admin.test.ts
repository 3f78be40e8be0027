import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import type { StaticSite } from './support/served-client.ts';

const KEY = 'the-key-of-this-test-0123456789';

clientSuite('the web client’s admin view', (suite) => {
  async function device(clientId: string, options: IClientOptions = {}): Promise<MqttClient> {
    const client = await connectAsync(suite.served.nodeUrl, {
      protocolVersion: 5,
      clientId,
      reconnectPeriod: 0,
      properties: { sessionExpiryInterval: 3_600 },
      ...options,
    });
    onTestFinished(() => client.endAsync(true));
    return client;
  }

  it('shows the connected clients, their subscriptions and rates, and disconnects one', async () => {
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
    await page.getByLabel('A topic, to find its subscribers').fill('greenhouse/door');
    await page.getByRole('row', { name: /greenhouse\/# greenhouse\/sensor 1 1/ }).waitFor();
    await client.screenshot('admin-subscriptions-light');

    await page.getByRole('tab', { name: 'Retained messages' }).click();
    await page.getByLabel('A topic filter').fill('greenhouse/#');
    const retained = page.getByRole('row').filter({ hasText: 'greenhouse/temperature' });
    await retained.getByText('4 B').waitFor();
    await retained.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('No retained message matches.').waitFor();
    await client.screenshot('admin-retained-light');
  });

  it('shows a client’s session, window, traffic, identity and quotas', async () => {
    const sensor = await device('detailed/sensor', { keepalive: 7 });
    await sensor.subscribeAsync('detailed/#', { qos: 1 });
    await sensor.publishAsync('detailed/here', 'x', { qos: 1 });
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('button', { name: 'detailed/sensor', exact: true }).click();
    const details = page.getByRole('dialog', { name: 'Client detailed/sensor' });
    await details.getByText(/^0 of [\d,]+ in flight$/).waitFor();
    await details
      .getByText(/^1 message \([\d.]+\/s\), \d+ B$/)
      .first()
      .waitFor();
    await details.getByText('anonymous').waitFor();
    await details.getByText('7 s', { exact: true }).first().waitFor();
    await details.getByText('connectionsMax').waitFor();
    await details.getByText('detailed/# · QoS 1').waitFor();
    await details.getByRole('heading', { name: 'Dropped messages' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('admin-client-light');
    await sensor.publishAsync('detailed/here', 'x', { qos: 1 });
    await details
      .getByText(/^2 messages /)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => details.count()).toBe(0);
  });

  it('draws the rates, and sorts by a column', async () => {
    for (const name of ['sorted/b', 'sorted/a', 'sorted/c']) await device(name);
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('img', { name: 'Messages over the last 15 min' }).waitFor();
    await page.getByLabel('Part of the client identifier').fill('sorted/');
    const names = (): Promise<string[]> => page.getByRole('rowheader').allTextContents();
    const head = page.getByRole('columnheader', { name: 'Client identifier' });
    await head.getByRole('button').click();
    await eventually(names).toEqual(['sorted/a', 'sorted/b', 'sorted/c']);
    await eventually(() => head.getAttribute('aria-sort')).toBe('ascending');
    await head.getByRole('button').click();
    await eventually(names).toEqual(['sorted/c', 'sorted/b', 'sorted/a']);
    expect(await client.accessibilityProblems()).toEqual([]);
  });

  it('removes many retained messages at once by a filter, and no others', async () => {
    for (const topic of ['bulk/1', 'bulk/2', 'bulk/3', 'bulk-beside']) {
      await suite.other.publishAsync(topic, 'x', { qos: 1, retain: true });
    }
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('tab', { name: 'Retained messages' }).click();
    await page.getByLabel('A topic filter').fill('bulk/#');
    const dialog = page.getByRole('dialog');
    await page.getByText('3 in all').waitFor();
    await page.getByRole('button', { name: 'Remove all that fit (3) …' }).click();
    await dialog.getByText('All that fit bulk/# now.').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('admin-bulk-light');
    await dialog.getByRole('button', { name: 'Remove 3 messages' }).click();
    await dialog.getByText('3 of 3 removed').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No retained message matches.').waitFor();
    await page.getByLabel('A topic filter').fill('bulk-beside');
    await page.getByText('1 in all').waitFor();
  });

  it('bans a client, and lets it in again', async () => {
    const sensor = await device('banned/sensor');
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('button', { name: 'banned/sensor', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Client banned/sensor' })
      .getByRole('button', { name: 'Ban …' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Keep a client out' });
    await dialog.getByLabel('Reason').fill('of the test');
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('admin-ban-light');
    const ended = new Promise((resolve) => sensor.once('close', () => resolve(true)));
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click();
    expect(await ended).toBe(true);
    await eventually(() => page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('tab', { name: 'Bans' }).click();
    const row = page.getByRole('row').filter({ hasText: 'banned/sensor' });
    await row.getByText('of the test').waitFor();
    await expect(device('banned/sensor')).rejects.toThrow(/Banned|banned/);
    expect(await client.accessibilityProblems()).toEqual([]);
    await row.getByRole('button', { name: 'Lift the ban of banned/sensor' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift', exact: true }).click();
    await page.getByText('There are no bans.').waitFor();
    await device('banned/sensor');
  });

  it('asks for the key where the broker wants one, and does not store it', async () => {
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
    // The browser logs an error for a refused request.
    client.complaints.length = 0;
    await page.getByLabel('Key of the API').fill(KEY);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByRole('row').filter({ hasText: 'this page' }).waitFor();
    await client.openView('Wire');
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

  describe('served as static files', () => {
    let site: StaticSite;

    beforeAll(async () => {
      site = await suite.built.serveFiles();
    });
    afterAll(async () => site?.stop());

    it('links to CloudWatch where a deployment names its dashboard', async () => {
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
