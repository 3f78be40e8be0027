import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** What is noticed as a stall. */
const STALL_MS = 200;

clientSuite('the publish panel of the web client', (suite) => {
  const form = (client: ClientPage) => client.page.getByRole('form', { name: 'Publish' });
  const payload = (client: ClientPage) =>
    form(client).getByRole('textbox', { name: 'Payload' }).locator('.cm-line').allTextContents();

  async function chooseFormat(client: ClientPage, format: string): Promise<void> {
    await form(client).getByRole('radiogroup', { name: 'Payload format' }).getByText(format).click();
  }

  it('shows the same bytes in the format that is chosen', async () => {
    const client = await suite.openConnected('messages');
    await client.fillPayload('Text', '{"é":1}');
    await chooseFormat(client, 'Hex');
    await eventually(() => payload(client)).toEqual(['7b 22 c3 a9 22 3a 31 7d']);
    await chooseFormat(client, 'Base64');
    await eventually(() => payload(client)).toEqual(['eyLDqSI6MX0=']);
    await chooseFormat(client, 'JSON');
    await eventually(() => payload(client)).toEqual(['{"é":1}']);
  });

  it('keeps what cannot be converted, and says why', async () => {
    const client = await suite.openConnected('messages');
    await client.fillPayload('Hex', 'ff 00');
    await chooseFormat(client, 'Text');
    await form(client).getByText('These bytes are not UTF-8 text, so the format stays as it is.').waitFor();
    await eventually(() => payload(client)).toEqual(['ff 00']);
    await eventually(() => form(client).getByRole('radio', { name: 'Hex' }).isChecked()).toBe(true);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.fillPayload('Hex', 'ff 0');
    await chooseFormat(client, 'Base64');
    await form(client).getByText('Hexadecimal digits come in pairs, as 0a ff').first().waitFor();
    await eventually(() => payload(client)).toEqual(['ff 0']);
  });

  it('shows its labels whole', async () => {
    const client = await suite.openConnected('messages', { width: 1_280, height: 800 });
    await client.page.getByRole('button', { name: 'Properties, request, burst' }).click();
    await client.page.getByRole('tab', { name: 'Burst' }).click();
    await client.page.getByRole('button', { name: 'Start the burst' }).waitFor();
    await client.page.getByRole('combobox', { name: 'How to search' }).click();
    await client.page.getByRole('option', { name: 'JSONPath' }).click();
    await client.screenshot('publish-labels');
    await eventually(() => client.clippedLabels()).toEqual([]);
  });

  it('takes a megabyte of JSON without a stall', async () => {
    const client = await suite.openConnected('messages');
    const editor = form(client).getByRole('textbox', { name: 'Payload' });
    const entries = Array.from({ length: 20_000 }, (_, id) => ({
      id,
      name: `sensor ${id}`,
      celsius: id / 7,
    }));
    const json = JSON.stringify(entries);
    expect(json.length).toBeGreaterThan(1_000_000);
    await editor.click();
    // A busy machine may hold up any one of them.
    await eventually(async () => {
      await client.page.keyboard.press('ControlOrMeta+a');
      await client.page.keyboard.press('Delete');
      await eventually(() => client.page.getByTestId('size').textContent()).toMatch(/^0 B/);
      return await longestTaskMs(client, json);
    }).toBeLessThan(STALL_MS);
    await eventually(() => client.page.getByTestId('size').textContent()).toMatch(/MiB of/);
  });

  /** Pastes the text, and measures until the editor has drawn it. */
  async function longestTaskMs(client: ClientPage, text: string): Promise<number> {
    const editor = form(client).getByRole('textbox', { name: 'Payload' });
    return await editor.evaluate(async (content: HTMLElement, pasted: string) => {
      const tasksMs = [0];
      const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) tasksMs.push(duration);
      });
      observer.observe({ type: 'longtask' });
      const data = new DataTransfer();
      data.setData('text/plain', pasted);
      content.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
      // What the paste has set off comes in the frames after it.
      for (let frame = 0; frame < 30; frame += 1) await new Promise((next) => requestAnimationFrame(next));
      observer.disconnect();
      return Math.max(...tasksMs);
    }, text);
  }
});
