import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** The page confirms a click at once. */
const SAID_WITHIN_MS = 3_000;

clientSuite('charts in the web client', (suite) => {
  async function open(filter: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.subscribe(filter);
    return client;
  }

  async function tell(topic: string, value: object): Promise<void> {
    await suite.other.publishAsync(topic, JSON.stringify(value), { qos: 1 });
  }

  /**
   * Clicks the number of a line of the payload, in the details of the open message. React may just render the details
   * again, and a click that begins on one element and ends on another has no effect.
   */
  async function chartNumber(client: ClientPage, name: string): Promise<void> {
    const line = client.page.getByRole('treeitem').filter({ hasText: `${name}:` });
    const said = client.page.getByText(new RegExp(`^The number is charted( already)?: .*\\.${name}`));
    await eventually(async () => {
      await line.getByTitle('Chart this number').click();
      return await said
        .first()
        .waitFor({ timeout: SAID_WITHIN_MS })
        .then(() => 'charted', String);
    }).toBe('charted');
  }

  /** Clicks `button`, and follows the link to the charts in the notice that appears. */
  async function followToCharts(client: ClientPage, button: Locator): Promise<void> {
    await button.click();
    await client.page.getByRole('link', { name: 'Open the charts' }).click();
    await eventually(() => client.page.url()).toContain('#/charts');
  }

  /** Keeps the first values in the window until the end of the test, on a slow machine too. */
  async function lengthenWindow(client: ClientPage): Promise<void> {
    await client.page.locator('label', { hasText: '15 min' }).click();
    await client.page.getByRole('img', { name: /over the last 15 min$/ }).waitFor();
  }

  function series(client: ClientPage, ...texts: readonly string[]): Locator {
    let rows = client.page.getByRole('table', { name: 'Series' }).locator('tbody').getByRole('row');
    for (const text of texts) rows = rows.filter({ hasText: text });
    return rows;
  }

  /** The number of gaps in the only line of a chart in light colours, from its first pixel to its last. */
  async function lineBreaks(chart: Locator): Promise<number> {
    return await chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, width, height) ?? { data: [] };
      const isLine = (at: number): boolean =>
        Math.abs((data[at] ?? 0) - 54) < 40 &&
        Math.abs((data[at + 1] ?? 0) - 79) < 40 &&
        (data[at + 2] ?? 0) > 150;
      let columns = '';
      for (let x = 0; x < width; x += 1) {
        let isCrossed = false;
        for (let y = 0; y < height && !isCrossed; y += 1) isCrossed = isLine((y * width + x) * 4);
        columns += isCrossed ? '#' : ' ';
      }
      return columns.trim().split(/ {3,}/).length - 1;
    });
  }

  /** Last, min, mean, max, samples. */
  async function numbersOf(row: Locator): Promise<string[]> {
    return (await row.getByRole('cell').allTextContents()).slice(0, 5);
  }

  it('charts a number that is clicked in a payload, with earlier and later values', async () => {
    const client = await open('room/#');
    const { page } = client;
    await tell('room/1', { temperature: 20, air: { humidity: 40 } });
    await tell('room/1', { temperature: 22, air: { humidity: 44 } });
    await client.rows('room/1').first().click();
    await chartNumber(client, 'temperature');
    await chartNumber(client, 'humidity');
    await page.getByText('The number is charted: room/1 · $.air.humidity').waitFor();
    await page.getByRole('link', { name: 'Open the charts' }).click();
    await page.getByRole('img', { name: 'Chart of 2 series over the last 1 min' }).waitFor();
    await lengthenWindow(client);
    await tell('room/1', { temperature: 27, air: { humidity: 48 } });
    await eventually(() => numbersOf(series(client, '$.temperature'))).toEqual(['27', '20', '23', '27', '3']);
    await eventually(() => numbersOf(series(client, '$.air.humidity'))).toEqual([
      '48',
      '40',
      '44',
      '48',
      '3',
    ]);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-light');
  });

  it('hides a series, brings it back, and removes it', async () => {
    const client = await open('hide/#');
    const { page } = client;
    await tell('hide/1', { a: 1, b: 2 });
    await client.rows('hide/1').first().click();
    await chartNumber(client, 'a');
    await chartNumber(client, 'b');
    await client.openView('Charts');
    await page.getByRole('button', { name: 'Hide hide/1 $.a' }).click();
    await page.getByRole('img', { name: 'Chart of 1 series' }).waitFor();
    await page.getByRole('button', { name: 'Show hide/1 $.a' }).click();
    await page.getByRole('img', { name: 'Chart of 2 series' }).waitFor();
    await page.getByRole('button', { name: 'Remove hide/1 $.a' }).click();
    await eventually(() => series(client).count()).toBe(1);
    await page.getByRole('button', { name: 'Remove hide/1 $.b' }).click();
    await page.getByText('Nothing is charted yet').waitFor();
  });

  it('draws no line across the time without a connection', async () => {
    const client = await open('gap/#');
    const { page } = client;
    await tell('gap/1', { a: 1 });
    await client.rows('gap/1').first().click();
    await chartNumber(client, 'a');
    await tell('gap/1', { a: 1 });
    await client.openView('Charts');
    await eventually(() => numbersOf(series(client, '$.a')).then((numbers) => numbers.at(-1))).toBe('2');
    const chart = page.getByRole('img', { name: /^Chart of 1 series/ });
    await eventually(() => lineBreaks(chart)).toBe(0);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await client.connected();
    await tell('gap/1', { a: 1 });
    await eventually(() => numbersOf(series(client, '$.a')).then((numbers) => numbers.at(-1))).toBe('3');
    await eventually(() => lineBreaks(chart)).toBe(1);
    await client.screenshot('charts-gap');
  });

  it('stands still while it is paused, and takes samples all the same', async () => {
    const client = await open('still/#');
    const { page } = client;
    await tell('still/1', { a: 1 });
    await client.rows('still/1').first().click();
    await chartNumber(client, 'a');
    await client.openView('Charts');
    await lengthenWindow(client);
    const numbers = (): Promise<string[]> => numbersOf(series(client, '$.a'));
    await eventually(numbers).toEqual(['1', '1', '1', '1', '1']);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await tell('still/1', { a: 3 });
    await client.openView('Messages');
    await client.rows('still/1', '"a":3').waitFor();
    await client.openView('Charts');
    await series(client, '$.a').waitFor();
    await eventually(numbers).toEqual(['1', '1', '1', '1', '1']);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await eventually(numbers).toEqual(['3', '1', '2', '3', '2']);
    await page.locator('label', { hasText: '1 h' }).click();
    await page.getByRole('img', { name: 'Chart of 1 series over the last 1 h' }).waitFor();
    await page.getByRole('button', { name: 'Clear the samples' }).click();
    await eventually(numbers).toEqual(['–', '–', '–', '–', '0']);
  });

  it('measures how late messages are and how many are missing, and charts both', async () => {
    const client = await open('late/#');
    const { page } = client;
    // Another counter, over many topics: in each of them its numbers jump, and none is missing.
    for (let seq = 100; seq < 112; seq += 1) await tell(`late/other/${seq % 3}`, { seq });
    for (const seq of [1, 2, 3, 4]) await tell('late/1', { seq, ts: Date.now() - 5_000 });
    await tell('late/1', { seq: 9, ts: Date.now() - 60_000 });
    const row = client.rows('"seq":9');
    await row.getByTitle('4 messages are missing before this one').waitFor();
    await eventually(() =>
      client
        .rows('late/other')
        .getByTitle(/missing/)
        .count(),
    ).toBe(0);
    // One of them comes late.
    await tell('late/1', { seq: 7, ts: Date.now() - 5_000 });
    await row.getByTitle('3 messages are missing before this one').waitFor();
    await eventually(() => row.locator('[data-column="latency"]').textContent()).toMatch(/^\d[\d.]* s$/);
    await row.click();
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Chart the latency of late/1' }).click();
    await followToCharts(client, page.getByRole('button', { name: 'Chart the missing messages of late/1' }));
    await lengthenWindow(client);
    const missing = series(client, 'Missing messages');
    await eventually(() => numbersOf(missing)).toEqual(['0', '0', '0.5', '3', '6']);
    const [, , , max, count] = await numbersOf(series(client, 'Latency'));
    expect(max).toMatch(/^\d[\d.]* s$/);
    expect(Number.parseFloat(max ?? '')).toBeGreaterThanOrEqual(60);
    expect(count).toBe('6');
  });

  it('asks for a series by topic and path, and says which of them is wrong', async () => {
    const client = await open('ask/#');
    const { page } = client;
    await tell('ask/1', { rooms: [{ 'the name': 7 }] });
    await client.openView('Charts');
    await page.getByRole('button', { name: 'Add a series' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Topic or topic filter').fill('ask/#/1');
    await dialog.getByText('Not a topic filter').waitFor();
    await dialog.getByLabel('Topic or topic filter').fill('ask/+');
    await dialog.getByLabel('Path in the payload').fill('$.rooms[');
    await dialog.getByText('Not a path to one value').waitFor();
    await eventually(() => dialog.getByRole('button', { name: 'Add a series' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Path in the payload').fill("$.rooms[0]['the name']");
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-dialog-light');
    await dialog.getByRole('button', { name: 'Add a series' }).click();
    await lengthenWindow(client);
    await eventually(() => numbersOf(series(client, 'ask/+'))).toEqual(['7', '7', '7', '7', '1']);
  });

  it('shows several charts at a time, each with its own axes', async () => {
    const client = await open('several/#');
    const { page } = client;
    await tell('several/1', { a: 1, b: 1_000 });
    await tell('several/1', { a: 2, b: 3_000 });
    await client.rows('several/1').first().click();
    await chartNumber(client, 'a');
    await chartNumber(client, 'b');
    await client.openView('Charts');
    await page.getByRole('img', { name: 'Chart of 2 series' }).waitFor();
    await page.getByRole('button', { name: 'A chart for each' }).click();
    await page.getByRole('img', { name: 'Chart 1: 1 series' }).waitFor();
    await page.getByRole('img', { name: 'Chart 2: 1 series' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-several-light');
    await page.getByRole('button', { name: 'One chart for all' }).click();
    await page.getByRole('img', { name: 'Chart of 2 series' }).waitFor();
  });

  it('suggests the numbers of the newest messages, and names what the axis shows', async () => {
    const client = await open('suggested/#');
    const { page } = client;
    await tell('suggested/text', { note: 'no number', seq: 1 });
    await tell('suggested/kitchen', { celsius: 20.5 });
    await client.rows('suggested/kitchen').waitFor();
    await client.openView('Charts');
    const suggested = page.getByRole('group', { name: 'Numbers of the newest messages' });
    await eventually(() => suggested.getByRole('button').allTextContents()).toEqual([
      'suggested/kitchen $.celsius',
    ]);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-suggested-light');
    await suggested.getByRole('button').click();
    await eventually(() => numbersOf(series(client, '$.celsius')).then(([last]) => last)).toBe('20.5');
  });

  it('can be read in the dark and on a phone', async () => {
    const client = await open('small/#', { colorScheme: 'dark' });
    await tell('small/1', { a: 1 });
    await tell('small/1', { a: 2 });
    await client.rows('small/1').first().click();
    await chartNumber(client, 'a');
    await client.openView('Charts');
    await series(client, '$.a').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-dark');
    await client.page.setViewportSize({ width: 390, height: 844 });
    // Waits until the navigation has slid away.
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('charts-phone-dark');
  });
});
