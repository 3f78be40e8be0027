import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

const LARGE_CHARACTERS = 1_048_576;

clientSuite('the publish panel of the web client', (suite) => {
  const form = (client: ClientPage) => client.page.getByRole('form', { name: 'Publish' });

  async function chooseFormat(client: ClientPage, format: string): Promise<void> {
    await form(client).getByRole('radiogroup', { name: 'Payload format' }).getByText(format).click();
  }

  it('shows the same bytes in the chosen format', async () => {
    const client = await suite.openConnected('messages');
    await client.fillPayload('Text', '{"é":1}');
    await chooseFormat(client, 'Hex');
    await eventually(() => client.payload()).toBe('7b 22 c3 a9 22 3a 31 7d');
    await chooseFormat(client, 'Base64');
    await eventually(() => client.payload()).toBe('eyLDqSI6MX0=');
    await chooseFormat(client, 'JSON');
    await eventually(() => client.payload()).toBe('{"é":1}');
  });

  it('keeps a payload that it cannot convert, and says why', async () => {
    const client = await suite.openConnected('messages');
    await client.fillPayload('Hex', 'ff 00');
    await chooseFormat(client, 'Text');
    await form(client).getByText('These bytes are not UTF-8 text, so the format stays as it is.').waitFor();
    await eventually(() => client.payload()).toBe('ff 00');
    await eventually(() => form(client).getByRole('radio', { name: 'Hex' }).isChecked()).toBe(true);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.fillPayload('Hex', 'ff 0');
    await chooseFormat(client, 'Base64');
    await form(client).getByText('Hexadecimal digits come in pairs, as 0a ff').first().waitFor();
    await eventually(() => client.payload()).toBe('ff 0');
  });

  it('opens the code editor for a large payload or on request, and not before', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    const field = form(client).getByRole('textbox', { name: 'Payload' });
    const editor = form(client).locator('.cm-content');
    const scripts = () =>
      page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    await client.fillPayload('Text', 'typed first');
    expect((await scripts()).filter((name) => name.includes('code-editor'))).toEqual([]);
    const button = form(client).getByRole('button', { name: /^Code editor/ });
    await button.click();
    await editor.waitFor();
    await eventually(() => client.payload()).toBe('typed first');
    await editor.and(page.locator(':focus')).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.fillPayload('Text', 'typed there');
    await button.click();
    await eventually(() => field.inputValue()).toBe('typed there');

    await client.fillPayload('Text', 'x'.repeat(5_000));
    await form(client).getByLabel('Topic', { exact: true }).focus();
    await field.focus();
    await editor.waitFor();
    await eventually(async () => (await client.payload()).length).toBe(5_000);
  });

  it('shows its labels in full', async () => {
    const client = await suite.openConnected('messages', { width: 1_280, height: 800 });
    await client.page.getByRole('button', { name: 'Properties', exact: true }).click();
    await client.page.getByLabel('Content type').waitFor();
    await client.page.getByRole('combobox', { name: 'How to search' }).selectOption({ label: 'JSONPath' });
    await client.screenshot('publish-labels');
    await eventually(() => client.clippedLabels()).toEqual([]);
  });

  it('takes a megabyte of JSON by one paste, and begins anew', async () => {
    const client = await suite.openConnected('messages');
    const { keyboard } = client.page;
    const size = client.page.getByTestId('size');
    const entries = Array.from({ length: 20_000 }, (_, id) => ({
      id,
      name: `sensor ${id}`,
      celsius: id / 7,
    }));
    const json = JSON.stringify(entries);
    expect(json.length).toBeGreaterThan(1_000_000);
    await form(client).getByRole('textbox', { name: 'Payload' }).click();
    await paste(client, json);
    await eventually(() => size.textContent()).toMatch(/MiB of/);
    await form(client).locator('.cm-content:focus').waitFor();
    await keyboard.press('ControlOrMeta+a');
    await keyboard.press('Delete');
    await eventually(() => size.textContent()).toMatch(/^0 B/);
  });

  it('counts the bytes of a large payload once, however often the page is rendered', async () => {
    const client = await suite.openConnected('messages');
    await client.page.evaluate((charactersMin) => {
      const { encode } = TextEncoder.prototype;
      const globals = globalThis as unknown as { encodedCount: number };
      globals.encodedCount = 0;
      TextEncoder.prototype.encode = function count(text) {
        if ((text?.length ?? 0) >= charactersMin) globals.encodedCount += 1;
        return encode.call(this, text);
      };
    }, LARGE_CHARACTERS);
    await form(client).getByRole('textbox', { name: 'Payload' }).click();
    await paste(client, `"${'x'.repeat(LARGE_CHARACTERS)}"`);
    await eventually(() => client.page.getByTestId('size').textContent()).toMatch(/MiB of/);
    await client.subscribe('drawn/#');
    for (const number of ['1', '2', '3']) {
      await suite.other.publishAsync(`drawn/${number}`, 'anew');
      await client.rows(`drawn/${number}`).waitFor();
    }
    await form(client).getByLabel('Topic', { exact: true }).fill('another/topic');
    const encoded = () =>
      client.page.evaluate(() => (globalThis as unknown as { encodedCount: number }).encodedCount);
    expect(await encoded()).toBe(1);
  });

  async function paste(client: ClientPage, text: string): Promise<void> {
    const editor = form(client).getByRole('textbox', { name: 'Payload' });
    await editor.evaluate((content: HTMLElement, pasted: string) => {
      const data = new DataTransfer();
      data.setData('text/plain', pasted);
      content.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, text);
  }
});
