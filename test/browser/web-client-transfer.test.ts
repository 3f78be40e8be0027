import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

interface Recorded {
  readonly topic: string;
  readonly payloadBase64: string;
}

clientSuite('import and export in the web client', (suite) => {
  /** Where a bookmark of the view for imports leads. */
  async function openImport(options: PageOptions = {}): Promise<ClientPage> {
    const client = await suite.open('transfer', options);
    await client.page.getByRole('dialog', { name: 'Import' }).waitFor();
    return client;
  }

  /** The text of the file that the button of this name downloads. */
  async function exported(client: ClientPage, button: string): Promise<string> {
    const { bytes } = await client.download(client.page.getByRole('button', { name: button, exact: true }));
    return bytes.toString();
  }

  /** Chooses a file in the dialog for imports, which it opens where it is closed. */
  async function choose(client: ClientPage, name: string, text: string): Promise<void> {
    const { page } = client;
    const isOpen = (await page.getByRole('dialog', { name: 'Import' }).count()) === 1;
    if (!isOpen) {
      await page.keyboard.press('Escape');
      await eventually(() => page.getByRole('dialog').count()).toBe(0);
      await client.chooseFromMenu('Import …');
    }
    const [chooser] = await Promise.all([
      client.page.waitForEvent('filechooser'),
      client.page.getByRole('button', { name: 'Choose a file' }).click(),
    ]);
    await chooser.setFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  }

  it.each([
    ['node', 'JSON'],
    ['gateway', 'JSON Lines'],
  ])('messages of the %s door leave as %s, and come back', async (door, format) => {
    const client = await suite.open('messages');
    const { page } = client;
    if (door === 'gateway') await client.connectToGateway();
    else await client.connected();
    await client.subscribe('to/file/#');
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('to/file/bytes');
    await client.fillPayload('Hex', '00 ff fe 0a 0d');
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
    await eventually(() => client.rows('to/file/bytes').count()).toBe(2);
    await client.publish('to/file/text', 'Küste ☂, "two"', 1);
    await eventually(() => client.rows('to/file/text').count()).toBe(2);

    await page
      .getByRole('radiogroup', { name: 'Direction' })
      .locator('label', { hasText: /^Received$/ })
      .click();
    await client.chooseFromMenu('Export …');
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByLabel('Only what the filter of the Messages view shows').check();
    await dialog.locator('label', { hasText: new RegExp(`^${format}$`) }).click();
    const text = await exported(client, 'Export messages');
    if (format === 'JSON') {
      const { messages } = JSON.parse(text) as { readonly messages: readonly Recorded[] };
      expect(messages.map(({ topic, payloadBase64 }) => [topic, payloadBase64])).toEqual([
        ['to/file/bytes', Buffer.from([0, 255, 254, 10, 13]).toString('base64')],
        ['to/file/text', Buffer.from('Küste ☂, "two"').toString('base64')],
      ]);
    }
    await choose(client, 'messages.txt', text);
    await page.getByText('2 messages in 2 topics').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`import-${door}-${format}`);
    await page.getByRole('button', { name: 'Open to read' }).click();
    await client.rows('to/file/text', 'Küste ☂, "two"').waitFor();
    await client.rows('to/file/bytes').waitFor();
  });

  it('connections move to another browser, with their secrets only when the user asks for it', async () => {
    const client = await suite.open('messages');
    const { page } = client;
    await client.newConnection('to be moved', suite.served.nodeUrl);
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill('hunter2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await client.chooseFromMenu('Export …');
    await page
      .getByRole('dialog')
      .locator('label', { hasText: /^Connections$/ })
      .click();
    const without = await exported(client, 'Export connections');
    expect(without).toContain('to be moved');
    expect(without).not.toContain('hunter2');
    await page.getByLabel('With passwords and tokens').check();
    const whole = await exported(client, 'Export connections');
    expect(whole).toContain('hunter2');
    await client.screenshot('transfer-light');

    const other = await openImport({ context: await suite.newContext() });
    await choose(other, 'connections.json', whole);
    await other.page.getByText('The file holds secrets.').waitFor();
    expect(await other.accessibilityProblems()).toEqual([]);
    await other.screenshot('transfer-connections-light');
    await other.page.getByRole('button', { name: 'Add 3 connections' }).click();
    await other.page.getByText('Added 3 connections.').waitFor();
    await other.page.getByRole('navigation').getByText('to be moved').waitFor();
    await eventually(() => other.stored()).toContain('to be moved');
    expect(await other.stored()).not.toContain('hunter2');
  });

  it('an invalid file is answered with its error', async () => {
    const client = await openImport();
    const alert = client.page.getByRole('alert');
    await choose(client, 'letter.txt', 'Dear reader,');
    await alert.getByText('It is no file of this client.').waitFor();
    await choose(
      client,
      'cut.jsonl',
      '{"topic": "a", "payloadText": ""}\n{"topic": "a/#", "payloadText": ""}\n',
    );
    await alert.getByText('Line 2 has a topic that no message can have').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('transfer-problem-light');
  });

  it('a file may be put aside while it is read, and be chosen again', async () => {
    const client = await openImport();
    const { page } = client;
    const line = '{"topic": "later", "payloadText": "x"}\n';
    const reading = page.getByText('Reading later.jsonl …');
    // The first worker never gets its script, so this reading does not end by itself.
    await page.route('**/read-worker-*.js', () => {}, { times: 1 });
    await choose(client, 'later.jsonl', line);
    await reading.waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await reading.waitFor({ state: 'hidden' });
    await choose(client, 'later.jsonl', line);
    await page.getByText('1 message in 1 topics').waitFor();
  });

  it.each([
    ['dark', 1440],
    ['light', 390],
  ] as const)('looks right in %s colours at %i pixels', async (colorScheme, width) => {
    const client = await openImport({ colorScheme, width, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`transfer-${colorScheme}-${width}`);
  });
});
