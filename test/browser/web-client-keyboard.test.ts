import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { gate } from '../support/gate.ts';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('the keyboard in the web client', (suite) => {
  async function isFocused(part: Locator): Promise<void> {
    await eventually(() => part.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(
      true,
    );
  }

  /** Opens a dialog with a key, leaves it with another, and is where it was before. */
  async function opensAndReturns(client: ClientPage, opener: Locator, returnsTo = opener): Promise<void> {
    const dialog = client.page.getByRole('dialog');
    await opener.focus();
    await client.page.keyboard.press('Enter');
    await eventually(() => dialog.locator(':focus').count()).toBe(1);
    await client.page.keyboard.press('Escape');
    await eventually(() => dialog.count()).toBe(0);
    await isFocused(returnsTo);
  }

  it('gives the focus back after each dialog', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
    await client.subscription('hello/#').waitFor();
    await opensAndReturns(client, button('Edit hello/#'));
    await opensAndReturns(client, button('New connection'));
    await opensAndReturns(client, button('Edit This broker'));
    await button('More for this connection').focus();
    await page.keyboard.press('Enter');
    const entry = page.getByRole('menuitem', { name: 'Export …' });
    await opensAndReturns(client, entry, button('More for this connection'));
  });

  it('gives the focus back after the dialogs of Admin, and to the table after a removal', async () => {
    await suite.other.publishAsync('focus/1', 'x', { qos: 1, retain: true });
    const client = await suite.open('admin');
    const { page } = client;
    const button = (name: string): Locator => page.getByRole('button', { name });
    await page.getByRole('tab', { name: 'Retained messages' }).click();
    await opensAndReturns(client, page.getByTitle('Show the payload of focus/1'));
    await opensAndReturns(client, button('Remove all'));
    const remove = button('Remove the retained message of focus/1');
    await opensAndReturns(client, remove);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await eventually(() => remove.count()).toBe(0);
    await isFocused(page.getByRole('group', { name: 'Retained messages' }));
  });

  it('gives the focus to the table when a row disappears before its dialog has closed', async () => {
    await suite.other.publishAsync('focus/3', 'x', { qos: 1, retain: true });
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('tab', { name: 'Retained messages' }).click();
    const isShown = gate();
    await page.route('**/mqtt/retainer/message/**', async (route) => {
      const response = await route.fetch();
      if (route.request().method() === 'DELETE') await isShown.opened;
      await route.fulfill({ response });
    });
    const remove = page.getByRole('button', { name: 'Remove the retained message of focus/3' });
    await remove.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await eventually(() => remove.count()).toBe(0);
    await isFocused(page.getByRole('group', { name: 'Retained messages' }));
    isShown.open();
  });

  it('closes the details of a message, a topic and a packet by Escape, and goes back to the list', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('focus/#');
    await suite.other.publishAsync('focus/2', '{"a":1}');
    const details = page.getByRole('complementary');
    const closeButton = page.getByRole('button', { name: 'Close the details' });
    const format = details.getByRole('combobox', { name: 'Format' });
    const messages = page.getByRole('grid');
    await client.rows('focus/2').waitFor();
    await messages.press('ArrowDown');
    const formats = page.getByRole('listbox').getByRole('option');
    await format.press('ArrowDown');
    await formats.first().waitFor();
    // The first Escape closes the list of formats.
    await page.keyboard.press('Escape');
    await eventually(() => formats.count()).toBe(0);
    await isFocused(format);
    await details.getByRole('tab', { name: 'Packet' }).press('Escape');
    await eventually(() => details.count()).toBe(0);
    await isFocused(messages);
    await messages.press('ArrowDown');
    await closeButton.press('Enter');
    await eventually(() => details.count()).toBe(0);
    await isFocused(messages);

    await client.openView('Topics');
    const topics = page.getByRole('tree', { name: 'Topics' });
    await page.getByRole('treeitem').first().waitFor();
    await topics.press('End');
    await page.getByRole('button', { name: 'Copy the topic' }).press('Escape');
    await eventually(() => closeButton.count()).toBe(0);
    await isFocused(topics);

    await client.openView('Wire');
    const packets = page.getByRole('grid');
    await packets.press('ArrowDown');
    await page.getByRole('button', { name: 'Copy the bytes in hexadecimal' }).press('Escape');
    await eventually(() => closeButton.count()).toBe(0);
    await isFocused(packets);
  });

  it('opens the part of Messages in which a key has its field, at 400 %', async () => {
    const client = await suite.openConnected('messages', { width: 320, height: 256 });
    const { page } = client;
    await page.getByRole('grid').focus();
    const press = async (key: string, field: string): Promise<void> => {
      await page.keyboard.press(key);
      await isFocused(page.getByLabel(field, { exact: true }));
      // Leaves the field, in which keys are letters.
      await page.evaluate('document.activeElement.blur()');
    };
    await press('n', 'Topic filter');
    await press('p', 'Topic');
    await press('/', 'Filter by topic');
    expect(await client.accessibilityProblems()).toEqual([]);
  });
});
