import { expect, it } from 'vitest';
import { cases } from '../support/runs.ts';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('the bench of the web client', (suite) => {
  const open = (options: PageOptions = {}): Promise<ClientPage> => suite.openConnected('connection', options);

  /** A run of two seconds with two publishers and three subscribers. */
  async function plan(client: ClientPage, ratePerSecond: number): Promise<void> {
    const form = client.page.getByRole('form', { name: 'Plan' });
    await form.getByLabel('Publishers', { exact: true }).fill('2');
    await form.getByLabel('Subscribers').fill('3');
    await form.getByLabel('Messages a second').fill(String(ratePerSecond));
    await form.getByLabel('Payload in bytes').fill('64');
    await form.getByLabel('Seconds', { exact: true }).fill('2');
  }

  async function numbers(client: ClientPage): Promise<Record<string, string>> {
    const figures = client.page.locator('dl[aria-label="Numbers"] > div');
    const texts = await figures.evaluateAll((nodes) =>
      nodes.map((node) => [
        node.querySelector('dt')?.textContent ?? '',
        node.querySelector('dd')?.firstChild?.textContent ?? '',
      ]),
    );
    return Object.fromEntries(texts) as Record<string, string>;
  }

  it.each(cases(['node'], ['gateway']))('counts every message at the %s door', async (door) => {
    const client = await open();
    const { page } = client;
    if (door === 'gateway') {
      await client.newConnection('gateway', suite.served.gatewayUrl);
      await page.getByRole('button', { name: 'Save and connect' }).click();
      await page.getByRole('banner').getByText('gateway door').waitFor();
      await client.connected();
    }
    await client.openView('Bench');
    await plan(client, 50);
    await page.getByText('150 deliveries a second').waitFor();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('status').getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
    const { Published, Acknowledged, Received, ...others } = await numbers(client);
    expect(Number(Published)).toBeGreaterThan(0);
    expect(Acknowledged).toBe(Published);
    expect(Number(Received)).toBe(3 * Number(Published));
    expect(others).toMatchObject({ Missing: '0', Duplicates: '0', 'Out of order': '0' });
    await eventually(() => page.getByRole('table').getByRole('row').count()).toBeGreaterThan(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`bench-${door}-light`);
  });

  it('exports its measurements', async () => {
    const client = await open();
    const { page } = client;
    await client.openView('Bench');
    await plan(client, 20);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('status').getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
    const { Published } = await numbers(client);
    await page.getByRole('button', { name: 'Export' }).click();
    const { bytes } = await client.download(page.getByRole('menuitem', { name: 'Everything as JSON' }));
    expect(JSON.parse(bytes.toString())).toMatchObject({
      format: 'apus-bench',
      plan: { publishers: 2, subscribers: 3, ratePerSecond: 20 },
      snapshot: { phase: 'done', published: Number(Published), missing: 0 },
    });
  });

  it('stops when its user stops it, and says which part of a plan is wrong', async () => {
    const client = await open();
    const { page } = client;
    await client.openView('Bench');
    await plan(client, 20);
    await page.getByLabel('Seconds', { exact: true }).fill('60');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('status').getByText('Publishing', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('status').getByText('Stopped', { exact: true }).waitFor();
    await page.getByLabel('Publishers', { exact: true }).fill('0');
    await eventually(() => page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    await page.getByText('1 to 200', { exact: true }).waitFor();
  });

  it('can be read in the dark and on a phone', async () => {
    const client = await open({ colorScheme: 'dark' });
    const { page } = client;
    await client.openView('Bench');
    await plan(client, 20);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('status').getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('bench-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('bench-phone-dark');
  });
});
