import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** High enough that the table draws every row. */
const TALL_PX = 4_000;

clientSuite('the wire in the web client', (suite) => {
  /** Subscribed to a filter, with the timeline open. */
  async function open(filter: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.subscribe(filter);
    await client.openView('Wire');
    return client;
  }

  function rows(client: ClientPage, ...texts: readonly string[]): Locator {
    let found = client.page
      .getByRole('grid', { name: 'What went over the wire, newest first' })
      .locator('[aria-selected]');
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
    await page.getByText('Nothing has gone over the wire yet').waitFor();
    await suite.other.publishAsync('hidden/1', 'x', { qos: 1 });
    await rows(client, 'PUBACK').waitFor();
    await page.getByRole('checkbox', { name: 'PUBLISH and acknowledgements' }).uncheck();
    await page.getByText('The boxes above hide all of it').waitFor();
    await page.getByText('0 packets', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'PUBLISH and acknowledgements' }).check();
    await rows(client, 'hidden/1').waitFor();
  });

  it('goes from packet to packet by key, and explains each', async () => {
    const client = await open('keys/#');
    const { page } = client;
    await rows(client, 'SUBACK').first().waitFor();
    const grid = page.getByRole('grid', { name: 'What went over the wire, newest first' });
    await grid.press('ArrowDown');
    const details = page.getByRole('complementary');
    await details.getByText(/^SUBACK, \d+ B$/).waitFor();
    await grid.press('ArrowDown');
    await details.getByText(/^SUBSCRIBE, \d+ B$/).waitFor();
    await details.getByText('keys/#').first().waitFor();
    await grid.press('Escape');
    await details.getByText('Choose a line to see it byte by byte.').waitFor();
  });

  /** Connected to the gateway door and subscribed. */
  async function openGateway(filter: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.connectToGateway();
    await client.subscribe(filter);
    return client;
  }

  const sums = (client: ClientPage) =>
    client.page.getByRole('region', { name: 'All frames of this connection' });

  it('shows at the gateway door which packets share a frame, its bill, and what sharing saves', async () => {
    const client = await openGateway('shared/#', { height: TALL_PX });
    const { page } = client;
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('shared/0');
    await client.fillPayload('Text', 'x');
    await form.locator('label', { hasText: 'QoS 1' }).click();
    const publish = form.getByRole('button', { name: 'Publish', exact: true });
    // At once: the transport gathers what comes while a frame waits for its reply.
    await publish.evaluate((button) => {
      for (let clicks = 0; clicks < 12; clicks += 1) (button as unknown as { click(): void }).click();
    });
    await eventually(() => client.rows('shared/').count()).toBeGreaterThanOrEqual(24);
    await client.openView('Wire');
    await sums(client).getByText('One frame for each packet').waitFor();
    await sums(client)
      .getByText(/^Saved$/)
      .waitFor();
    const shared = rows(client, 'request', '× PUBLISH').first();
    await shared.waitFor();
    const saved = Number(await shared.locator('[data-column="saved"]').textContent());
    expect(saved).toBeGreaterThanOrEqual(1);
    await eventually(() => shared.locator('[data-column="billed"]').textContent()).toBe('1');
    await shared.click();
    const details = page.getByRole('complementary', { name: 'Packet or frame' });
    const fact = (name: string) => details.locator(`dt:text-is("${name}") + dd`).textContent();
    expect(await fact('Billed')).toBe('1 message, $0.000001');
    expect(await fact('One frame for each packet')).toContain(`${saved + 1} messages, $`);
    // The packets of a frame stand below it.
    await page.mouse.move(0, 0);
    await rows(client).and(page.locator('[data-is="part"]')).filter({ hasText: 'shared/0' }).first().click();
    await details.getByText(/^PUBLISH, \d+ B$/).waitFor();
    await details.getByText(/^In frame #\d+ \((request|push|reply)\)$/).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('wire-gateway-light');
    for (const box of ['PUBLISH and acknowledgements', 'Frames without packets'])
      await page.getByRole('checkbox', { name: box }).uncheck();
    await rows(client, 'reply', 'SUBACK').first().waitFor();
    await eventually(() => rows(client, 'PUBLISH').count()).toBe(0);
  });

  it('has one count of the frames, the handshake among them, over several connections', async () => {
    const client = await openGateway('counted/#', { height: TALL_PX });
    const { page } = client;
    for (let again = 0; again < 2; again += 1) {
      await page.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await client.connected();
    }
    await client.openView('Wire');
    await eventually(() => rows(client, 'handshake').count()).toBe(3);
    await eventually(async () => {
      const listed = await rows(client).and(page.locator('[data-is="frame"]')).allTextContents();
      const counted = await sums(client).locator('dd').first().textContent();
      return `${listed.length} ${listed[0]?.startsWith(`#${counted}`)}`;
    }).toMatch(/^\d+ true$/);
  });

  it('says of a packet without a frame why it has none, and distinguishes a push from a reply', async () => {
    const client = await openGateway('pushed/#');
    const { page } = client;
    await suite.other.publishAsync('pushed/1', 'one', { qos: 1 });
    await client.rows('pushed/1').waitFor();
    await client.openView('Wire');
    await rows(client, 'push', 'PUBLISH').first().click();
    await page.getByText('Packets that answer nothing: messages of other clients.').waitFor();
    // The session keeps nothing: the transport leaves the PUBACK out.
    await page.mouse.move(0, 0);
    const puback = rows(client, 'PUBACK').and(page.locator('[data-is="packet"]'));
    await eventually(() => puback.locator('[data-column="number"]').textContent()).toBe('none');
    await puback.click();
    await page.getByText(/^In no frame: the transport answered it itself/).waitFor();
    await page.getByText('and 1 PUBACK that it left out').waitFor();
  });

  it('shows packets alone at the node door, without an empty column', async () => {
    const client = await open('alone/#');
    const { page } = client;
    await rows(client, 'SUBACK').first().waitFor();
    const heads = page.getByRole('columnheader');
    const shown = ['Time', 'Since the last', 'Direction', 'Packet', 'Summary', 'Size'];
    await eventually(() => heads.allTextContents()).toEqual(shown);
    await eventually(() => sums(client).count()).toBe(0);
    await eventually(() => page.getByRole('checkbox', { name: 'Frames without packets' }).count()).toBe(0);
  });

  it('never goes back in time', async () => {
    const client = await open('back/#');
    for (let n = 0; n < 20; n += 1) void suite.other.publishAsync(`back/${n}`, 'x', { qos: 1 });
    await rows(client, 'back/19').first().waitFor();
    await eventually(() => rows(client).locator('[data-column="since"]').allTextContents()).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^−/)]),
    );
  });

  it.each(['packets', 'frames'])('is where a bookmark of #/%s leads', async (old) => {
    const client = await suite.openConnected(old);
    await client.page.getByRole('region', { name: 'Wire' }).waitFor();
  });

  it.each(['node', 'gateway'])(
    'can be read in the dark, on a phone and in a window of 192 px at the %s door',
    async (door) => {
      const options = { colorScheme: 'dark' } as const;
      const client = door === 'node' ? await open('small/#', options) : await openGateway('small/#', options);
      const { page } = client;
      await suite.other.publishAsync('small/1', '{"value":1}', { qos: 1 });
      if (door === 'gateway') {
        await client.rows('small/1').waitFor();
        await client.openView('Wire');
      }
      await rows(client, 'small/1').first().click();
      await page.getByRole('button', { name: 'Close the details' }).waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`wire-${door}-dark`);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('dialog', { name: 'Packet or frame' }).waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
      await page.getByRole('button', { name: 'Close the details' }).click();
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`wire-${door}-phone-dark`);
      // A window of 1,366 by 768 at 400 %.
      await page.setViewportSize({ width: 341, height: 192 });
      const grid = page.getByRole('grid');
      await grid.scrollIntoViewIfNeeded();
      await eventually(async () => (await grid.boundingBox())?.height ?? 0).toBeGreaterThanOrEqual(120);
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    },
  );
});
