import { expect, it, onTestFinished } from 'vitest';
import { cases } from '../support/runs.ts';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

const MAXIMUM_PACKET_SIZE = 1_000;

clientSuite('what becomes of what is published', (suite) => {
  const status = (client: ClientPage) =>
    client.page.getByRole('form', { name: 'Publish' }).getByRole('status').first();

  /** Clicks Publish, and does not wait for the outcome. */
  async function send(client: ClientPage, topic: string, qos: 0 | 1 | 2): Promise<void> {
    const form = client.page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill(topic);
    await form.locator('label', { hasText: `QoS ${qos}` }).click();
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
  }

  const fateOf = (client: ClientPage, topic: string) =>
    client.rows(topic).and(client.page.locator('[data-direction="published"]')).locator('abbr').first();

  it.each(cases(['node'], ['gateway']))(
    'checks the size of a message before it sends it, and shows by how much it is too large, at the %s door',
    async (door) => {
      const served = await suite.built.serve(['--maximum-packet-size', String(MAXIMUM_PACKET_SIZE)]);
      onTestFinished(() => served.stop());
      const client = await suite.openUrl(`${served.pageUrl}#/messages`);
      await client.connected();
      if (door === 'gateway') await client.connectToGateway();
      const size = client.page.getByTestId('size');
      // Fixed header 3, topic 2 + 7, no properties 1.
      await client.page.getByLabel('Topic', { exact: true }).fill('big/one');
      await client.fillPayload('Text', 'x'.repeat(MAXIMUM_PACKET_SIZE - 13 + 5));
      await eventually(() => size.textContent()).toBe('992 B of 1,000 B · Too large by 5 B');
      await send(client, 'big/one', 0);
      await eventually(() => status(client).textContent()).toBe(
        'Too large: the server takes a packet of 1,000 B at most. Nothing was sent.',
      );
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`fates-too-large-${door}`);
      await client.fillPayload('Text', 'x'.repeat(MAXIMUM_PACKET_SIZE - 13));
      await eventually(() => size.textContent()).toBe('987 B of 1,000 B');
      await send(client, 'big/one', 0);
      await eventually(() => fateOf(client, 'big/one').textContent()).toBe('sent');
      // Only the message that fits was sent, and the connection is still open.
      await eventually(() => client.rows('big/one').count()).toBe(1);
      await client.page.getByRole('button', { name: 'Disconnect' }).waitFor();
    },
  );

  it.each(cases(['node'], ['gateway']))(
    'says of each published message whether it was refused, and why, at the %s door',
    async (door) => {
      const client = await suite.openConnected('messages');
      if (door === 'gateway') await client.connectToGateway();
      await send(client, `fate/${door}/1`, 1);
      await eventually(() => fateOf(client, `fate/${door}/1`).textContent()).toBe('ack');
      await send(client, `fate/${door}/0`, 0);
      await eventually(() => fateOf(client, `fate/${door}/0`).textContent()).toBe('sent');
      // No client may publish under the server's name.
      await send(client, `$SYS/${door}/1`, 1);
      await eventually(() => fateOf(client, `$SYS/${door}/1`).textContent()).toBe('0x87');
      await send(client, `$SYS/${door}/2`, 2);
      await eventually(() => fateOf(client, `$SYS/${door}/2`).textContent()).toBe('0x87');
      await eventually(() => fateOf(client, `$SYS/${door}/2`).getAttribute('title')).toMatch(
        /^Refused: 0x87 Not authorized/i,
      );
      await eventually(() => status(client).textContent()).toMatch(/^Not published: 0x87/);
      await client.rows(`$SYS/${door}/2`).click();
      await client.page.getByText(/^Refused: 0x87/).waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`fates-refused-${door}`);
    },
  );

  /** Connects with MQTT 3.1.1, in which the server tells no limits. */
  async function connectOld(client: ClientPage, url: string): Promise<void> {
    const { page } = client;
    await client.newConnection('Old', url);
    await page.getByRole('combobox', { name: 'MQTT version' }).click();
    await page.getByRole('option', { name: '3.1.1' }).click();
    await page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
    await client.openView('Messages');
  }

  it.each(cases(['node'], ['gateway']))(
    'knows the largest packet in MQTT 3.1.1 too, where the broker serves the page, at the %s door',
    async (door) => {
      const served = await suite.built.serve(['--maximum-packet-size', String(MAXIMUM_PACKET_SIZE)]);
      onTestFinished(() => served.stop());
      const client = await suite.openUrl(`${served.pageUrl}#/messages`);
      await client.connected();
      await connectOld(client, door === 'node' ? served.nodeUrl : served.gatewayUrl);
      await client.page.getByLabel('Topic', { exact: true }).fill('big/one');
      // Fixed header 3, topic 2 + 7.
      await client.fillPayload('Text', 'x'.repeat(MAXIMUM_PACKET_SIZE - 12 + 5));
      await eventually(() => client.page.getByTestId('size').textContent()).toBe(
        '993 B of 1,000 B · Too large by 5 B',
      );
      await send(client, 'big/one', 1);
      await eventually(() => status(client).textContent()).toMatch(/^Too large: the server takes/);
      await client.page.getByRole('button', { name: 'Disconnect' }).waitFor();
    },
  );

  it('says that the limit is not known in MQTT 3.1.1 at another broker', async () => {
    const served = await suite.built.serve();
    onTestFinished(() => served.stop());
    const client = await suite.openConnected('messages');
    await connectOld(client, served.nodeUrl);
    await client.fillPayload('Text', 'x');
    await eventually(() => client.page.getByTestId('size').textContent()).toBe('1 B, limit unknown');
    await eventually(() => client.page.getByTestId('size').getAttribute('title')).toBe(
      'In MQTT 3.1.1 a server does not say how large a packet may be. It may close the connection at one that is too large.',
    );
  });

  it('says what an acknowledgement does not mean in MQTT 3.1.1', async () => {
    const client = await suite.openConnected('messages');
    await connectOld(client, suite.served.nodeUrl);
    await send(client, '$SYS/old', 1);
    await eventually(() => fateOf(client, '$SYS/old').textContent()).toBe('ack');
    await eventually(() => fateOf(client, '$SYS/old').getAttribute('title')).toBe(
      'Acknowledged. That does not mean accepted: MQTT 3.1.1 cannot say that a PUBLISH was refused.',
    );
    await eventually(() => status(client).textContent()).toMatch(
      /^Acknowledged in [\d.]+ ms\. That does not mean accepted: MQTT 3\.1\.1 cannot say that a PUBLISH was refused\.$/,
    );
    await client.screenshot('fates-old-light');
  });
});
