import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import { cuttable, type Way } from '../support/cuttable.ts';
import { cases } from '../support/runs.ts';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import { PATIENCE_MS } from './support/limits.ts';

const STREAMS = {
  streams: [
    { name: 'chat', topicFilter: 'chat/#', key: 'author' },
    { name: 'few', topicFilter: 'few/+', messagesMax: 2 },
  ],
};

/** The transport waits some seconds before it tries to reconnect. */
const COMES_BACK_MS = 3 * PATIENCE_MS;

clientSuite('streams and presence in the web client', (suite) => {
  interface Opened {
    readonly client: ClientPage;
    readonly other: MqttClient;
    readonly way: Way;
  }

  /** A page whose connection can be cut, at a broker with streams; and another client of the broker. */
  async function openCuttable(door: 'node' | 'gateway'): Promise<Opened> {
    const directory = await mkdtemp(join(tmpdir(), 'apus-streams-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, 'streams.json');
    await writeFile(file, JSON.stringify(STREAMS));
    const served = await suite.built.serve(['--streams', file]);
    onTestFinished(() => served.stop());
    const other = await connectAsync(served.nodeUrl, { protocolVersion: 5, clientId: 'other' });
    onTestFinished(() => other.endAsync(true));
    const way = await cuttable(door === 'node' ? served.nodeUrl : served.gatewayUrl);
    const client = await suite.openUrl(`${served.pageUrl}#/messages`);
    await client.newConnection('cuttable', way.url);
    await client.page.getByLabel('Client identifier').fill('page');
    await client.page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
    return { client, other, way };
  }

  async function tell(other: MqttClient, topic: string, payloads: readonly string[]): Promise<void> {
    const properties = { userProperties: { author: 'ann' } };
    for (const payload of payloads) await other.publishAsync(topic, payload, { qos: 1, properties });
  }

  async function subscribeFrom(client: ClientPage, filter: string, messages: string): Promise<void> {
    const { page } = client;
    await page.getByRole('button', { name: 'New subscription, with all options' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Topic filter').fill(filter);
    await dialog.getByRole('combobox', { name: 'Begin in the past' }).click();
    await page.getByRole('option', { name: 'With the last messages' }).click();
    await dialog.getByLabel('Messages of each topic').fill(messages);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('streams-dialog-light');
    await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await client
      .subscription(filter)
      .getByText(/^stream/)
      .waitFor();
  }

  const cells = (client: ClientPage, column: string) =>
    client.rows().locator(`[data-column="${column}"]`).allTextContents();
  const marks = (client: ClientPage, kind: string) => client.page.locator(`[data-mark="${kind}"]`);

  it.each(cases(['node'], ['gateway']))(
    'read the history of a stream, and show what was recovered and what was not, at the %s door',
    { timeout: 6 * PATIENCE_MS },
    async (door) => {
      const { client, other, way } = await openCuttable(door);
      await tell(other, 'chat/room', ['1', '2', '3']);
      await tell(other, 'few/room', ['a']);
      await client.openView('Messages');
      await subscribeFrom(client, 'chat/room', '2');
      await subscribeFrom(client, '$stream/few', '1');
      await tell(other, 'chat/room', ['4']);
      await eventually(() => cells(client, 'payload')).toEqual(['4', 'a', '3', '2']);
      await eventually(() => cells(client, 'position')).toEqual(['4', '1', '3', '2']);
      await eventually(() => cells(client, 'flags')).toEqual(['', 'past', 'past', 'past']);
      way.break();
      await tell(other, 'chat/room', ['5', '6']);
      await tell(other, 'few/room', ['b', 'c', 'd', 'e', 'f', 'g']);
      way.mend();
      await marks(client, 'away')
        .filter({ hasText: 'only streams bring what came meanwhile' })
        .waitFor({ timeout: COMES_BACK_MS });
      await marks(client, 'recovered')
        .filter({ hasText: 'chat/room: no gap, 2 missed messages follow' })
        .waitFor();
      await marks(client, 'gap')
        .filter({ hasText: '$stream/few: messages may be missing that the broker cannot bring back' })
        .waitFor();
      await client.subscription('$stream/few').getByText('stream, messages may be missing').waitFor();
      await eventually(async () => (await cells(client, 'flags')).sort()).toEqual(
        ['', 'past', 'past', 'past', 'rec', 'rec', 'last'].sort(),
      );
      const payload = client.page.locator('[data-column="payload"]', { hasText: /^6$/ });
      await client.rows().filter({ has: payload }).click();
      await client.page.getByRole('tab', { name: 'Properties' }).click();
      const details = client.page.getByRole('tabpanel', { name: 'Properties' });
      await details.getByText(/^[0-9a-z]+-6(-\d+)?$/).waitFor();
      await details.getByText('recovered: it came while there was no connection').waitFor();
      expect(await client.accessibilityProblemsInBothColours(`streams-${door}`)).toEqual([]);
      await client.page.setViewportSize({ width: 390, height: 844 });
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      await client.screenshot(`streams-${door}-phone-dark`);
    },
  );

  it.each(cases(['node'], ['gateway']))(
    'show the members of a room as they come and go, at the %s door',
    { timeout: 6 * PATIENCE_MS },
    async (door) => {
      const { client, other, way } = await openCuttable(door);
      const { page } = client;
      await other.publishAsync('$presence/room-7/ann', '{"mood":"well"}', { qos: 1 });
      await client.openView('Topics');
      await page.getByRole('tab', { name: 'Presence' }).click();
      await page.getByRole('textbox', { name: 'Room', exact: true }).fill('room-7');
      await page.getByRole('button', { name: 'Watch', exact: true }).click();
      const members = page.getByRole('region', { name: 'Members of room-7' }).getByRole('listitem');
      await members.filter({ hasText: 'ann' }).filter({ hasText: '{"mood":"well"}' }).waitFor();
      await page.getByText('the broker counts 1').waitFor();
      await other.publishAsync('$presence/room-7/cid', 'online', { qos: 1 });
      await other.publishAsync('$presence/room-7/cid', 'typing', { qos: 1 });
      await members.filter({ hasText: 'typing' }).waitFor();
      await page.getByText('the broker counts 2').waitFor();
      expect(await client.accessibilityProblemsInBothColours(`presence-${door}`)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot(`presence-${door}-phone-dark`);
      await page.setViewportSize({ width: 1440, height: 900 });
      way.cut();
      await other.publishAsync('$presence/room-7/bob', 'hello', { qos: 1 });
      await other.publishAsync('$presence/room-7/ann', '', { qos: 1 });
      await members.filter({ hasText: 'bob' }).waitFor({ timeout: COMES_BACK_MS });
      await eventually(() => members.allTextContents().then((texts) => texts.length)).toBe(2);
    },
  );
});
