import { expect, it } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('a page that is reloaded', (suite) => {
  it('opens again what was open, leaves closed what was closed, and has what was being written', async () => {
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
    await eventually(() => form.getByRole('textbox', { name: 'Payload' }).textContent()).toBe(
      'half a sentence',
    );
    await eventually(() => form.getByRole('radio', { name: 'QoS 2' }).isChecked()).toBe(true);
  });

  it('has the filters of its views again', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const topic = page.getByLabel('Filter by topic');
    await topic.fill('kept/#');
    await page.getByLabel('Search the payloads').fill('21');
    await page.getByRole('button', { name: 'Retained', exact: true }).click();
    await client.openView('Topics');
    await page.getByLabel('Search the topics').fill('room');
    await client.openView('Packets');
    await page.getByLabel('Pings').uncheck();

    await page.reload();
    await client.connected();
    await eventually(() => page.getByLabel('Pings').isChecked()).toBe(false);
    await client.openView('Topics');
    await eventually(() => page.getByLabel('Search the topics').inputValue()).toBe('room');
    await client.openView('Messages');
    await eventually(() => topic.inputValue()).toBe('kept/#');
    await eventually(() => page.getByLabel('Search the payloads').inputValue()).toBe('21');
    await eventually(() =>
      page.getByRole('button', { name: 'Retained', exact: true }).getAttribute('aria-pressed'),
    ).toBe('true');
  });

  it('has the sizes of its panes again, and what was open of the publish panel', async () => {
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
    await form.getByRole('button', { name: 'Properties, request, burst' }).click();
    await eventually(async () => (await sizes())[0]).toBeGreaterThan(before ?? 0);
    const arranged = await sizes();

    await page.reload();
    await client.connected();
    await eventually(() => form.getByRole('tab', { name: 'Properties' }).count()).toBe(1);
    await eventually(sizes).toEqual(arranged);
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Publish a message' }).click();
    await eventually(sizes).toEqual(arranged);
  });

  it('goes on with its charts', async () => {
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
    // Counted before anybody has opened the view again.
    await eventually(() => row.getByRole('cell').first().textContent()).toBe('7');
  });

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
