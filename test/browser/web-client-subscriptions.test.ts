import { expect, it } from 'vitest';
import { cases } from '../support/runs.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('subscriptions and versions in the web client', (suite) => {
  async function held(filter: string): Promise<unknown> {
    const url = new URL(`/api/v5/subscriptions?topic=${encodeURIComponent(filter)}`, suite.served.pageUrl);
    const { data } = (await (await fetch(url)).json()) as { readonly data: unknown };
    return data;
  }

  it('sends every option of a subscription, and the server holds to them', async () => {
    await suite.other.publishAsync('options/old', 'kept', { qos: 1, retain: true });
    const client = await suite.openConnected('messages');
    const { page } = client;
    await page.getByRole('button', { name: 'New subscription, with all options' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Topic filter').fill('options/+');
    await dialog.locator('label', { hasText: /^2$|QoS 2/ }).click();
    await dialog.getByRole('switch', { name: 'No local' }).press('Space');
    await dialog.getByRole('switch', { name: 'Retain as published' }).press('Space');
    await dialog.getByRole('combobox', { name: 'Retained messages' }).click();
    await page.getByRole('option', { name: /Do not send them/ }).click();
    await dialog.getByRole('combobox', { name: 'Subscription identifier' }).click();
    await page.getByRole('option', { name: 'This one' }).click();
    await dialog.getByLabel('Identifier', { exact: true }).fill('77');
    await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await client.subscription('options/+').getByText('QoS 2').waitFor();
    await eventually(() => held('options/+')).toMatchObject([
      { topic: 'options/+', qos: 2, nl: 1, rap: 1, id: 77 },
    ]);
    // The client receives neither its own message nor the retained one: only messages of others.
    await client.publish('options/own', 'mine', 1);
    await suite.other.publishAsync('options/new', 'live', { qos: 1, retain: true });
    await client.rows('options/new', 'live', 'R').waitFor();
    await eventually(() => client.topics()).toEqual(['options/new', 'options/own']);
  });

  it('a shared subscription of two connections gets each message once', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('$share/group/work/#');
    await client.connectToGateway();
    await client.subscribe('$share/group/work/#');
    for (let index = 0; index < 10; index += 1)
      await suite.other.publishAsync(`work/${index}`, 'x', { qos: 1 });
    const seen = new Set<string>();
    let count = 0;
    const look = async (): Promise<void> => {
      const topics = (await client.topics()).filter((topic) => topic.startsWith('work/'));
      count += topics.length;
      for (const topic of topics) seen.add(topic);
    };
    await eventually(async () => {
      seen.clear();
      count = 0;
      await look();
      await page.getByRole('navigation').getByTitle(suite.served.nodeUrl).click();
      await look();
      await page.getByRole('navigation').getByText('This broker, gateway door').click();
      return { seen: seen.size, count };
    }).toEqual({ seen: 10, count: 10 });
  });

  it('empties the field for Escape, and offers everything where no message comes', async () => {
    const client = await suite.openConnected('messages', { context: await suite.newContext() });
    const { page } = client;
    await client.subscribe('nothing/comes/here');
    const field = page.getByLabel('Topic filter', { exact: true });
    await field.fill('not/#/a/filter');
    await field.press('Enter');
    await eventually(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.press('Escape');
    await eventually(() => field.inputValue()).toBe('');
    await eventually(() => field.getAttribute('aria-invalid')).not.toBe('true');
    await page.getByRole('button', { name: 'Subscribe to #' }).click();
    await client.subscription('#').getByText('QoS 0').waitFor();
    await suite.other.publishAsync('busy/broker', 'x');
    await client.rows('busy/broker').waitFor();
    await eventually(() => page.getByRole('button', { name: 'Subscribe to #' }).count()).toBe(0);
  });

  it.each(cases(['node'], ['gateway']))('speaks MQTT 3.1.1 at the %s door', async (door) => {
    const client = await suite.open('messages');
    const { page } = client;
    await client.newConnection('old', door === 'node' ? suite.served.nodeUrl : suite.served.gatewayUrl);
    await page.getByRole('combobox', { name: 'MQTT version' }).click();
    await page.getByRole('option', { name: '3.1.1' }).click();
    await page.getByLabel('Client identifier').fill(`old-${door}`);
    await page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
    await client.openView('Messages');
    await client.subscribe(`old/${door}`);
    await client.publish(`old/${door}`, 'hello', 2);
    await eventually(() => client.rows(`old/${door}`, 'hello').count()).toBe(2);
    const answer = await fetch(new URL(`/api/v5/clients/old-${door}`, suite.served.pageUrl));
    expect(await answer.json()).toMatchObject({ proto_ver: 4, door });
  });
});
