import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

interface Recorded {
  readonly topic: string;
  readonly payloadBase64: string;
}

clientSuite('import and export in the web client', (suite) => {
  /** The text of the file that the button of this name downloads. */
  async function exported(client: ClientPage, button: string): Promise<string> {
    const { bytes } = await client.download(client.page.getByRole('button', { name: button, exact: true }));
    return bytes.toString();
  }

  async function choose(client: ClientPage, name: string, text: string): Promise<void> {
    const [chooser] = await Promise.all([
      client.page.waitForEvent('filechooser'),
      client.page.getByRole('button', { name: 'Choose a file' }).click(),
    ]);
    await chooser.setFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  }

  it.each([
    ['node', 'JSON'],
    ['gateway', 'CSV'],
    ['node', 'JSON Lines'],
  ])('messages of the %s door leave as %s, come back, and are published again', async (door, format) => {
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

    await client.openView('Import, export');
    await page.locator('label', { hasText: /^Received$/ }).click();
    await page.locator('label', { hasText: new RegExp(`^${format}$`) }).click();
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
    await page.getByLabel('In front of each topic').fill('to/file/again/');
    await page.getByRole('combobox', { name: 'Pace' }).click();
    await page.getByRole('option', { name: 'As fast as the server takes them' }).click();
    await page.getByRole('button', { name: 'Publish 2 messages' }).click();
    await page.getByText('2 of 2 published. All of them have been published.').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`transfer-replayed-${door}-${format}`);
    await client.openView('Messages');
    await eventually(() => client.rows('to/file/again/to/file/text', 'Küste ☂, "two"').count()).toBe(2);
    await eventually(() => client.rows('to/file/again/to/file/bytes').count()).toBe(2);
  });

  it('a replay at a rate continues behind other views, and stops when its user stops it', async () => {
    const client = await suite.openConnected('transfer');
    const { page } = client;
    const line = JSON.stringify({ topic: 'slow', payloadText: 'x', timeMs: 0 });
    const last = JSON.stringify({ topic: 'slow', payloadText: 'x', timeMs: 3_600_000 });
    await choose(client, 'slow.jsonl', `${line}\n${last}\n`);
    await page.getByText('It takes 3,600 s.').waitFor();
    await page.getByRole('button', { name: 'Publish 2 messages' }).click();
    await page.getByText('1 of 2 published. Publishing …').waitFor();
    await client.openView('Costs');
    await client.openView('Import, export');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('1 of 2 published. Stopped.').waitFor();
  });

  it('connections move to another browser, with their secrets only when the user asks for it', async () => {
    const client = await suite.open('connection');
    const { page } = client;
    await client.newConnection('to be moved', suite.served.nodeUrl);
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill('hunter2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await client.openView('Import, export');
    const without = await exported(client, 'Export connections');
    expect(without).toContain('to be moved');
    expect(without).not.toContain('hunter2');
    await page.getByLabel('With passwords and tokens').check();
    const whole = await exported(client, 'Export connections');
    expect(whole).toContain('hunter2');
    await client.screenshot('transfer-light');

    const other = await suite.open('transfer', { context: await suite.newContext() });
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

  it('subscriptions are added to the connection that is shown, and subscribed at once', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('moved/+');
    await client.openView('Import, export');
    const text = await exported(client, 'Export subscriptions');
    await client.connectToGateway();
    await choose(client, 'subscriptions.json', text);
    await page.getByRole('button', { name: 'Add 1 to “This broker, gateway door”' }).click();
    await page.getByText('Added one subscription.').waitFor();
    await client.openView('Messages');
    await client
      .subscription('moved/+')
      .getByText(/^QoS \d/)
      .waitFor();
  });

  it('an invalid file is answered with its error', async () => {
    const client = await suite.open('transfer');
    const alert = client.page.getByRole('alert');
    await choose(client, 'letter.txt', 'Dear reader,');
    await alert.getByText('neither a file of this client nor JSON of MQTTX').waitFor();
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
    const client = await suite.open('transfer');
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
    const client = await suite.openConnected('transfer', { colorScheme, width, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot(`transfer-${colorScheme}-${width}`);
  });
});
