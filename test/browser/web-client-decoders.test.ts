import { Buffer } from 'node:buffer';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

const SCHEMA = 'syntax = "proto3"; package plant; message Reading { string sensor = 1; sint32 celsius = 2; }';

/** `{ sensor: "a7", celsius: -3 }` */
const READING = Buffer.from([0x0a, 2, 0x61, 0x37, 0x10, 5]);

clientSuite('decoders by topic filter in the web client', (suite) => {
  async function open(
    filter: string,
    topic: string,
    payload: Buffer,
    options: PageOptions = {},
  ): Promise<ClientPage> {
    const client = await suite.openConnected('messages', options);
    await client.subscribe(filter);
    await suite.other.publishAsync(topic, payload, { qos: 1, retain: true });
    await client.rows(topic).first().click();
    return client;
  }

  function dialogOf({ page }: ClientPage): Locator {
    return page.getByRole('dialog', { name: 'Decoders by topic filter' });
  }

  async function drop(client: ClientPage, name: string, text: string): Promise<void> {
    const input = dialogOf(client).locator('input[type="file"]');
    await input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  }

  it('decodes Protobuf by a schema that is dropped in, in the list and in the details, also after a reload', async () => {
    const client = await open('plant/#', 'plant/1', READING);
    const { page } = client;
    await page.getByRole('button', { name: 'Decoders by topic filter' }).click();
    const dialog = dialogOf(client);
    await drop(client, 'broken.proto', 'message {');
    await dialog
      .getByText(/broken\.proto/)
      .first()
      .waitFor();
    await eventually(() => dialog.getByRole('button', { name: 'Add the decoder' }).isDisabled()).toBe(true);
    await drop(client, 'broken.proto', SCHEMA);
    await eventually(() => dialog.getByRole('combobox', { name: 'Message' }).inputValue()).toBe(
      'plant.Reading',
    );
    await dialog.getByLabel('Topic filter').fill('plant/+');
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('decoders-dialog');
    await dialog.getByRole('button', { name: 'Add the decoder' }).click();
    await dialog.getByRole('button', { name: 'Remove the decoder of plant/+' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await client.rows('plant/1', '"celsius": -3').waitFor();
    await page.getByRole('tree', { name: 'Payload' }).getByText('celsius').waitFor();
    await eventually(() => page.getByRole('combobox', { name: 'Format' }).inputValue()).toBe(
      'Auto: Protobuf',
    );
    await client.screenshot('decoders-protobuf');
    // The table stands still while the pointer is over it.
    await page.mouse.move(0, 0);
    await suite.other.publishAsync('plant/1', 'plain text', { qos: 1 });
    await client.rows('plain text').click();
    await page.getByText(/^This is not Protobuf: /).waitFor();
    await page.reload();
    await client.connected();
    await client.rows('plant/1', '"celsius": -3').first().waitFor();
  });

  it('can be read in the dark, on a tablet and on a phone', async () => {
    const client = await open('dark/#', 'dark/1', READING, { colorScheme: 'dark' });
    const { page } = client;
    await page.getByRole('button', { name: 'Decoders by topic filter' }).click();
    await drop(client, 'plant.proto', SCHEMA);
    await dialogOf(client).getByRole('button', { name: 'Add the decoder' }).click();
    await dialogOf(client).getByText('Protobuf · plant.Reading · plant.proto').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('decoders-dark');
    await page.setViewportSize({ width: 834, height: 1112 });
    // The page renders the details anew in a drawer, and the dialog closes with them.
    await page.getByRole('button', { name: 'Decoders by topic filter' }).click();
    await dialogOf(client).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('decoders-tablet-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await dialogOf(client).waitFor();
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('decoders-phone-dark');
  });
});
