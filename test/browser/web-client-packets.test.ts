import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('the timeline of packets in the web client', (suite) => {
  /** Subscribed to a filter, with the timeline open. */
  async function open(filter: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.subscribe(filter);
    await client.openView('Packets');
    return client;
  }

  function rows(client: ClientPage, ...texts: readonly string[]): Locator {
    let found = client.page.getByRole('grid', { name: 'Packets, newest first' }).locator('[aria-selected]');
    for (const text of texts) found = found.filter({ hasText: text });
    return found;
  }

  it('stands still while it is paused, and shows the new packets when it continues', async () => {
    const client = await open('still/#');
    const { page } = client;
    await suite.other.publishAsync('still/1', 'one', { qos: 1 });
    await rows(client, 'still/1').waitFor();
    const rates = page.getByTestId('rates');
    const still = 'Received: 0/s Published: 0/s';
    await eventually(() => rates.textContent()).toBe(still);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await suite.other.publishAsync('still/2', 'two', { qos: 1 });
    // The worker sends the rates after the messages themselves. The rates fall back to zero, so the test publishes
    // until the page has shown them.
    await eventually(async () => {
      await suite.other.publishAsync('still/3', 'three', { qos: 1 });
      return await rates.textContent();
    }).not.toBe(still);
    await eventually(() => rows(client, 'still/2').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await rows(client, 'still/2').first().waitFor();
    await rows(client, 'still/3').first().waitFor();
  });

  it('hides the packets that do not match, and says so when none matches', async () => {
    const client = await open('hidden/#');
    const { page } = client;
    await page.getByRole('button', { name: 'Clear the timeline' }).click();
    await page.getByText('No packet yet').waitFor();
    await suite.other.publishAsync('hidden/1', 'x', { qos: 1 });
    await rows(client, 'PUBACK').waitFor();
    await page.getByRole('checkbox', { name: 'PUBLISH and acknowledgements' }).uncheck();
    await page.getByText('All packets are hidden by the boxes above').waitFor();
    await page.getByText('0 packets', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'PUBLISH and acknowledgements' }).check();
    await rows(client, 'hidden/1').waitFor();
  });

  it('goes from packet to packet by key, and explains each', async () => {
    const client = await open('keys/#');
    const { page } = client;
    await rows(client, 'SUBACK').first().waitFor();
    const grid = page.getByRole('grid', { name: 'Packets, newest first' });
    await grid.press('ArrowDown');
    const details = page.getByRole('complementary');
    await details.getByText(/^SUBACK, \d+ B$/).waitFor();
    await grid.press('ArrowDown');
    await details.getByText(/^SUBSCRIBE, \d+ B$/).waitFor();
    await details.getByText('keys/#').first().waitFor();
    await grid.press('Escape');
    await details.getByText('Choose a packet to see it byte by byte.').waitFor();
  });

  it('can be read in the dark and on a phone', async () => {
    const client = await open('small/#', { colorScheme: 'dark' });
    const { page } = client;
    await suite.other.publishAsync('small/1', '{"value":1}', { qos: 1 });
    await rows(client, 'small/1').click();
    await page.getByRole('button', { name: 'Close the details' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('packets-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('dialog', { name: 'Packet' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('packets-phone-details');
    await page.getByRole('button', { name: 'Close the details' }).click();
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('packets-phone-dark');
  });
});
