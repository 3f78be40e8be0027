import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

const LINES = [
  '{"time":"2026-05-01T10:00:00Z","topic":"lab/1","qos":1,"payload":{"celsius":20}}',
  '{"time":"2026-05-01T10:00:01.5Z","topic":"lab/2","payload":"hello","retain":true}',
].join('\n');

clientSuite('recordings in the web client', (suite) => {
  async function open(name: string, text: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.chooseFromMenu('Import …');
    const input = client.page.getByRole('dialog').locator('input[type="file"]');
    await input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await client.page.getByRole('button', { name: 'Open to read' }).click();
    return client;
  }

  it('a recording is read in Messages and Topics without sending anything, and is gone after a reload', async () => {
    const heard: string[] = [];
    suite.other.on('message', (topic) => heard.push(topic));
    await suite.other.subscribeAsync('lab/#');
    const client = await open('lab.jsonl', LINES);
    const { page } = client;
    await client.rows('lab/1', '{"celsius":20}').waitFor();
    await eventually(() => client.topics()).toEqual(['lab/2', 'lab/1']);
    await client.rows('lab/1').click();
    await page.getByRole('tree', { name: 'Payload' }).getByText('celsius').waitFor();
    await eventually(() => page.getByRole('tab', { name: 'Packet' }).count()).toBe(0);
    await eventually(() => page.getByRole('form', { name: 'Publish' }).count()).toBe(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('recording');
    await client.openView('Topics');
    await page.getByRole('treeitem', { name: /lab/ }).first().waitFor();
    expect(heard).toEqual([]);
    expect(await client.stored()).not.toContain('lab.jsonl');
    await client.openView('Messages');
    await page.getByRole('button', { name: 'Close the recording' }).click();
    await client.connected();
    await eventually(() => page.getByRole('navigation').getByText('lab.jsonl').count()).toBe(0);
  });

  it('a payload is taken from a file, chosen or dropped, byte for byte', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('file/#');
    const form = page.getByRole('form', { name: 'Publish' });
    const input = form.locator('input[type="file"]');
    await input.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0, 0xff]) });
    await eventually(() => client.payload()).toBe('89 00 ff');
    await page.evaluate(`(() => {
      const files = new DataTransfer();
      files.items.add(new File(['{"from":"a file"}'], 'a.json'));
      const target = document.querySelector('textarea[aria-label="Payload"]');
      target.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
    })()`);
    await eventually(() => client.payload()).toBe('{"from":"a file"}');
    await form.getByLabel('Topic', { exact: true }).fill('file/1');
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
    await client.rows('file/1', '{"from":"a file"}').first().waitFor();
    await input.setInputFiles({ name: 'large.bin', mimeType: '', buffer: Buffer.alloc(2 * 1024 * 1024 + 1) });
    await form.getByText('large.bin is larger than 2 MiB.').waitFor();
  });

  it('a recording can be read in the dark, on a tablet and on a phone', async () => {
    const client = await open('lab.jsonl', LINES, { colorScheme: 'dark' });
    const { page } = client;
    await client.rows('lab/1').waitFor();
    await client.screenshot('recording-dark');
    await page.setViewportSize({ width: 834, height: 1112 });
    await client.rows('lab/1').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('recording-tablet-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('recording-phone-dark');
  });
});
