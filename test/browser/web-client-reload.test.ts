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
