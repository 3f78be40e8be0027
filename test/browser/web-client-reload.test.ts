import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('a page that is reloaded', (suite) => {
  it('opens the same connections again, and has the unsent message', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const open = () => page.getByRole('navigation').getByRole('img', { name: 'Connected', exact: true });
    await client.newConnection('Third', suite.served.nodeUrl);
    await page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
    await client.connectToGateway();
    await eventually(() => open().count()).toBe(3);
    await page.getByRole('navigation').getByText('Third', { exact: true }).click();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await eventually(() => open().count()).toBe(2);
    await page.getByRole('navigation').getByText('This broker, gateway door').click();
    await client.openView('Messages');
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('unfinished/business');
    await client.fillPayload('Text', 'half a sentence');
    await form.locator('label', { hasText: 'QoS 2' }).click();

    await page.reload();
    await eventually(() => open().count()).toBe(2);
    await client.connected();
    await eventually(() => form.getByLabel('Topic', { exact: true }).inputValue()).toBe(
      'unfinished/business',
    );
    await eventually(() => client.payload()).toBe('half a sentence');
    await eventually(() => form.getByRole('radio', { name: 'QoS 2' }).isChecked()).toBe(true);
  });

  it('shows all messages again, and the wire as its user left it', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const topic = page.getByLabel('Filter by topic');
    await topic.fill('kept/#');
    await client.openView('Wire');
    await page.getByLabel('Pings').uncheck();

    await page.reload();
    await client.connected();
    await eventually(() => page.getByLabel('Pings').isChecked()).toBe(false);
    await client.openView('Messages');
    await eventually(() => topic.inputValue()).toBe('');
  });

  it('has the sizes of its panes again, and the open parts of the publish panel', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const form = page.getByRole('form', { name: 'Publish' });
    const subscriptions = page.getByRole('region', { name: 'Subscriptions' });
    const sizes = async () => [
      Math.round((await subscriptions.boundingBox())?.width ?? 0),
      Math.round((await form.boundingBox())?.height ?? 0),
    ];
    const [before] = await sizes();
    await page.getByRole('separator').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('separator').last().focus();
    await page.keyboard.press('ArrowUp');
    await form.getByRole('button', { name: 'Properties', exact: true }).click();
    await eventually(async () => (await sizes())[0]).toBeGreaterThan(before ?? 0);
    const arranged = await sizes();

    await page.reload();
    await client.connected();
    await eventually(() => form.getByLabel('Content type').count()).toBe(1);
    await eventually(sizes).toEqual(arranged);
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Publish a message' }).click();
    await eventually(sizes).toEqual(arranged);
  });

  it('continues its charts', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const row = page.getByRole('table', { name: 'Series' }).locator('tbody').getByRole('row');
    await client.subscribe('charted/#');
    await suite.other.publishAsync('charted/1', '{"value":1}', { qos: 1 });
    await client.rows('charted/1').first().click();
    await page.getByRole('treeitem').filter({ hasText: 'value:' }).getByTitle('Chart this number').click();
    await client.openView('Charts');
    await page.locator('label', { hasText: '15 min' }).click();
    await row.filter({ hasText: '$.value' }).waitFor();

    await client.openView('Messages');
    await page.reload();
    await client.connected();
    await client.subscription('charted/#').getByText('QoS 1').waitFor();
    await suite.other.publishAsync('charted/1', '{"value":7}', { qos: 1 });
    await client.openView('Charts');
    await page.getByRole('img', { name: 'Chart of 1 series over the last 15 min' }).waitFor();
    // Counted before the view is opened again.
    await eventually(() => row.getByRole('cell').first().textContent()).toBe('7');
  });

  const marks = (client: ClientPage) => client.page.locator('[data-mark="reloaded"]');

  /** The records of messages that the browser has stored, as text. */
  async function kept(client: ClientPage): Promise<string> {
    const stores = (await client.stored()).split('\n');
    return stores.find((text) => text.startsWith('records')) ?? '';
  }

  /** A reload in the second before that would lose the message. */
  async function isKept(client: ClientPage, topic: string): Promise<void> {
    await eventually(() => kept(client)).toContain(`"${topic}"`);
  }

  it('shows the stored messages, and where they end', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('stays/#');
    await suite.other.publishAsync('stays/before', 'seen', { qos: 1, properties: { contentType: 'text/x' } });
    await client.publish('stays/own', 'sent', 1);
    await client.rows('stays/own', 'ack').waitFor();
    await isKept(client, 'stays/own');

    await page.reload();
    await client.subscription('stays/#').getByText('QoS 1').waitFor();
    await client.rows('stays/before', 'seen').waitFor();
    await eventually(() => marks(client).textContent()).toContain(
      'Kept from before the reload; what came while the page was closed is missing',
    );
    await suite.other.publishAsync('stays/after', 'new', { qos: 1 });
    await client.rows('stays/after').waitFor();
    const tops = await Promise.all(
      [client.rows('stays/after'), marks(client), client.rows('stays/before')].map(
        async (row) => (await row.first().boundingBox())?.y ?? 0,
      ),
    );
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    await client.rows('stays/before').click();
    const details = page.getByRole('complementary');
    await details.getByRole('tab', { name: 'Properties' }).click();
    await details.getByText('text/x').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('messages-kept-light');
  });

  it('does not show messages again that were cleared or forgotten, or of a connection that stores none', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const goesByReload = async (topic: string): Promise<void> => {
      await page.reload();
      await client.subscription('gone/#').getByText('QoS 1').waitFor();
      await suite.other.publishAsync('gone/now', topic, { qos: 1 });
      await client.rows('gone/now', topic).waitFor();
      await eventually(() => client.rows(topic).count()).toBe(1);
      await eventually(() => marks(client).count()).toBe(0);
    };
    await client.subscribe('gone/#');
    await suite.other.publishAsync('gone/cleared', 'x', { qos: 1 });
    await isKept(client, 'gone/cleared');
    await page.getByRole('button', { name: 'Clear the list' }).click();
    await goesByReload('gone/cleared');

    await suite.other.publishAsync('gone/forgotten', 'x', { qos: 1 });
    await isKept(client, 'gone/forgotten');
    await client.chooseFromMenu('Edit …');
    await page.getByRole('button', { name: 'Forget kept messages' }).click();
    await page.getByText('Forgotten', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => kept(client)).not.toContain('"gone/forgotten"');
    await client.openView('Messages');
    await goesByReload('gone/forgotten');

    await suite.other.publishAsync('gone/off', 'x', { qos: 1 });
    await isKept(client, 'gone/off');
    await client.chooseFromMenu('Edit …');
    await page.getByLabel('Keep messages across a reload').uncheck();
    expect(await client.accessibilityProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await eventually(() => kept(client)).not.toContain('"gone/off"');
    await client.openView('Messages');
    await goesByReload('gone/off');
  });

  it('says once that the browser has no room, and continues', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const said = page.getByText('This browser has no room left');
    await client.subscribe('full/#');
    const [worker] = page.workers();
    await worker?.evaluate(`IDBObjectStore.prototype.put = () => {
      throw new DOMException('no room', 'QuotaExceededError');
    }`);
    await suite.other.publishAsync('full/1', 'x', { qos: 1 });
    await said.waitFor();
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await suite.other.publishAsync('full/2', 'x', { qos: 1 });
    await client.rows('full/2').waitFor();
    await eventually(() => said.count()).toBe(0);
  });

  it('says once that the browser stores nothing, and continues', async () => {
    const context = await suite.newContext();
    await context.addInitScript(`IDBFactory.prototype.open = () => {
      throw new DOMException('not here', 'SecurityError');
    }`);
    const client = await suite.openConnected('messages', { context });
    await client.page.getByText('This browser stores nothing for this page').waitFor();
    await client.subscribe('unstored/#');
    await client.publish('unstored/1', 'x', 1);
    await client.rows('unstored/1').first().waitFor();
  });

  it.each(['apus', 'apus-kept'])(
    'says that it has to be reloaded when a newer page has changed the shape of %s',
    async (name) => {
      const client = await suite.openConnected('messages');
      const { page } = client;
      await client.subscribe('newer/#');
      await client.publish('newer/first', 'x');
      await client.rows('newer/first').first().waitFor();
      const told = page.getByText('A newer version of this page is open in another tab.', { exact: false });
      await page.evaluate(
        (named) =>
          new Promise<void>((resolve, reject) => {
            const request = indexedDB.open(named, 1_000);
            request.onsuccess = () => resolve(request.result.close());
            request.onerror = () => reject(request.error);
          }),
        name,
      );
      // The page keeps the text in one of them, and in the other among the published messages.
      await client.publish('newer/second', 'x');
      await told.waitFor();
    },
  );

  it('is left by Escape from a field of the filter, and says its rates in words', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    for (const name of ['Filter by topic', 'Search the payloads']) {
      const field = page.getByLabel(name);
      await field.fill('something');
      await field.press('Escape');
      await eventually(() => field.and(page.locator(':focus')).count()).toBe(0);
      await eventually(() => field.inputValue()).toBe('something');
    }
    await eventually(() => page.getByTestId('rates').textContent()).toMatch(
      /^Received: [\d.,]+\/s Published: [\d.,]+\/s$/,
    );
    expect(await client.accessibilityProblems()).toEqual([]);
  });
});
