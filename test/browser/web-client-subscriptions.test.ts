import mqtt from 'mqtt';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium, whyNoBrowser } from './chromium.ts';
import { ClientPage } from './support/client-page.ts';
import { BuiltClient, type Served } from './support/served-client.ts';

const skipped = whyNoBrowser();

describe.skipIf(skipped !== undefined)(
  'subscriptions and versions in the web client, in Chromium',
  { timeout: 60_000 },
  () => {
    let built: BuiltClient;
    let served: Served;
    let browser: Browser;
    const opened: ClientPage[] = [];

    beforeAll(async () => {
      built = await BuiltClient.build();
      served = await built.serve();
      browser = await launchChromium();
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      await served?.stop();
      await built?.remove();
    });

    afterEach(async ({ task }) => {
      const pages = opened.splice(0);
      if (task.result?.state === 'fail') await pages[0]?.screenshot(`failed-${task.name}`);
      for (const client of pages) await client.close();
      expect(pages.flatMap(({ complaints }) => complaints)).toEqual([]);
    });

    async function open(view: string): Promise<ClientPage> {
      const client = await ClientPage.open(browser, `${served.pageUrl}#/${view}`);
      opened.push(client);
      return client;
    }

    async function publisher(): Promise<mqtt.MqttClient> {
      const client = await mqtt.connectAsync(served.nodeUrl, { protocolVersion: 5 });
      onTestFinished(() => client.endAsync(true));
      return client;
    }

    async function held(filter: string): Promise<unknown> {
      const url = new URL(`/api/v5/subscriptions?topic=${encodeURIComponent(filter)}`, served.pageUrl);
      const { data } = (await (await fetch(url)).json()) as { readonly data: unknown };
      return data;
    }

    it('sends every option of a subscription, and the server holds to them', async () => {
      const other = await publisher();
      await other.publishAsync('options/old', 'kept', { qos: 1, retain: true });
      const client = await open('messages');
      const { page } = client;
      await client.connected();
      await page.getByRole('button', { name: 'New subscription, with all options' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Topic filter').fill('options/+');
      await dialog.locator('label', { hasText: /^2$|QoS 2/ }).click();
      await dialog.getByRole('switch', { name: 'No local' }).click({ force: true });
      await dialog.getByRole('switch', { name: 'Retain as published' }).click({ force: true });
      await dialog.getByRole('combobox', { name: 'Retained messages' }).click();
      await page.getByRole('option', { name: /Do not send them/ }).click();
      await dialog.getByRole('combobox', { name: 'Subscription identifier' }).click();
      await page.getByRole('option', { name: 'This one' }).click();
      await dialog.getByLabel('Identifier', { exact: true }).fill('77');
      await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
      await client.subscription('options/+').getByText('QoS 2').waitFor();
      expect(await held('options/+')).toMatchObject([{ topic: 'options/+', qos: 2, nl: 1, rap: 1, id: 77 }]);
      // What it publishes itself does not come back, and neither does the retained message: only what others send.
      await client.publish('options/own', 'mine', 1);
      await other.publishAsync('options/new', 'live', { qos: 1, retain: true });
      await client.rows('options/new', 'live', 'R').waitFor();
      expect(await client.topics()).toEqual(['options/new', 'options/own']);
    });

    it('a shared subscription of two connections gets each message once', async () => {
      const client = await open('messages');
      const { page } = client;
      await client.connected();
      await client.subscribe('$share/group/work/#');
      await page.getByRole('navigation').getByText('This broker, gateway door').click();
      await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await client.connected();
      await client.subscribe('$share/group/work/#');
      const other = await publisher();
      for (let index = 0; index < 10; index += 1) await other.publishAsync(`work/${index}`, 'x', { qos: 1 });
      const seen = new Set<string>();
      let count = 0;
      const look = async (): Promise<void> => {
        const topics = (await client.topics()).filter((topic) => topic.startsWith('work/'));
        count += topics.length;
        for (const topic of topics) seen.add(topic);
      };
      await expect
        .poll(async () => {
          seen.clear();
          count = 0;
          await look();
          await page.getByRole('navigation').getByTitle(served.nodeUrl).click();
          await look();
          await page.getByRole('navigation').getByText('This broker, gateway door').click();
          return seen.size;
        })
        .toBe(10);
      expect(count).toBe(10);
    });

    it.each(['node', 'gateway'] as const)('speaks MQTT 3.1.1 at the %s door', async (door) => {
      const client = await open('connection');
      const { page } = client;
      await page.getByRole('button', { name: 'New connection', exact: true }).click();
      await page.getByLabel('Name', { exact: true }).fill('old');
      await page.getByLabel('URL').fill(door === 'node' ? served.nodeUrl : served.gatewayUrl);
      await page.getByRole('combobox', { name: 'MQTT version' }).click();
      await page.getByRole('option', { name: '3.1.1' }).click();
      await page.getByLabel('Client identifier').fill(`old-${door}`);
      await page.getByRole('button', { name: 'Save and connect' }).click();
      await client.connected();
      await client.openView('Messages');
      await client.subscribe(`old/${door}`);
      await client.publish(`old/${door}`, 'hello', 2);
      await expect.poll(() => client.rows(`old/${door}`, 'hello').count()).toBe(2);
      const answer = await fetch(new URL(`/api/v5/clients/old-${door}`, served.pageUrl));
      expect(await answer.json()).toMatchObject({ proto_ver: 4, door });
    });
  },
);
