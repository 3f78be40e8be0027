import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite("the gateway's frames in the web client", (suite) => {
  /** Connected to the gateway door and subscribed. */
  async function open(filter: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.connectToGateway();
    await client.subscribe(filter);
    return client;
  }

  function rows(client: ClientPage, ...texts: readonly string[]) {
    let found = client.page.getByRole('grid', { name: 'Frames, newest first' }).locator('[aria-selected]');
    for (const text of texts) found = found.filter({ hasText: text });
    return found;
  }

  it('shows which packets share a frame, how each is billed, and how much sharing saves', async () => {
    const client = await open('shared/#');
    const { page } = client;
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('shared/{n}');
    await client.fillPayload('Text', '{n}');
    await form.locator('label', { hasText: 'QoS 1' }).click();
    await page.getByRole('button', { name: 'Properties, request, burst' }).click();
    await page.getByRole('tab', { name: 'Burst' }).click();
    await form.getByLabel('How many').fill('12');
    await form.getByLabel('Messages a second').fill('1000');
    await form.getByRole('button', { name: 'Start the burst' }).click();
    await eventually(() => client.rows('shared/').count()).toBeGreaterThanOrEqual(24);
    await client.openView('Frames');
    await rows(client, 'handshake', 'CONNECT').waitFor();
    await rows(client, 'reply', 'SUBACK').first().waitFor();
    const shared = rows(client, 'request', '× PUBLISH').first();
    await shared.waitFor();
    const saved = Number(await shared.locator('[data-column="saved"]').textContent());
    expect(saved).toBeGreaterThanOrEqual(1);
    await eventually(() => shared.locator('[data-column="billed"]').textContent()).toBe('1');
    await eventually(() => shared.locator('[data-column="usd"]').textContent()).toBe('$0.000001');
    await shared.click();
    const details = page.getByRole('complementary', { name: 'Frame' });
    await details.getByText(`${saved + 1} messages, $`).waitFor();
    await details.getByRole('button', { name: /^1 PUBLISH/ }).click();
    await details.getByText(/^PUBLISH, \d+ B$/).waitFor();
    const sums = page.getByRole('region', { name: 'All frames of this connection' });
    await sums.getByText('One frame for each packet').waitFor();
    await sums.getByText(/^Saved$/).waitFor();
    await page.getByRole('checkbox', { name: 'Frames without packets' }).uncheck();
    await eventually(() => rows(client).count()).toBeGreaterThan(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('frames');
  });

  it('leads from a packet of the timeline to its frame, and distinguishes a push from a reply', async () => {
    const client = await open('pushed/#');
    const { page } = client;
    await suite.other.publishAsync('pushed/1', 'one', { qos: 1 });
    await client.rows('pushed/1').waitFor();
    await client.openView('Packets');
    const packets = page.getByRole('grid', { name: 'Packets, newest first' });
    const push = packets.locator('[aria-selected]').filter({ hasText: 'pushed/1' });
    await push.waitFor();
    const frame = await push.locator('[data-column="frame"]').textContent();
    expect(frame).toMatch(/^#\d+$/);
    // The session keeps nothing: the transport leaves the PUBACK out.
    const puback = packets.locator('[aria-selected]').filter({ hasText: 'PUBACK' });
    await eventually(() => puback.locator('[data-column="frame"]').textContent()).toBe('none');
    await push.click();
    await page.getByText(`Alone in frame ${frame} (push)`).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('packets-gateway');
    await page.getByRole('button', { name: 'Show the frame' }).click();
    await page.getByRole('heading', { name: `Frame ${frame}` }).waitFor();
    await page.getByText('Packets that answer nothing: messages of other clients.').waitFor();
    await page.getByText('and 1 PUBACK that it left out').waitFor();
  });

  it('says at the node door that there are no billed frames', async () => {
    const client = await suite.openConnected('frames');
    await client.page.getByText('There are no frames at the node door').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
  });

  it('can be read in the dark, on a tablet and on a phone', async () => {
    const client = await open('small/#', { colorScheme: 'dark' });
    const { page } = client;
    await suite.other.publishAsync('small/1', '{"value":1}', { qos: 1 });
    await client.rows('small/1').waitFor();
    await client.openView('Frames');
    await rows(client, 'push').first().click();
    await page.getByRole('button', { name: 'Close the details' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('frames-dark');
    await page.setViewportSize({ width: 834, height: 1112 });
    await page.getByRole('dialog', { name: 'Frame' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Close the details' }).click();
    await client.screenshot('frames-tablet-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('frames-phone-dark');
  });
});
