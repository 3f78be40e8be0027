import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import type { StaticSite } from './support/served-client.ts';

function run(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Run the example' }).click();
}

clientSuite('the first minute with the web client', (suite) => {
  it('opens connected, and shows publish, subscribe, retained and every QoS when it is asked to', async () => {
    const client = await suite.openUrl(suite.served.pageUrl);
    await client.connected();
    const { page } = client;
    await page.getByText('Nothing yet').first().waitFor();
    await run(page);
    const newcomer = page.getByRole('region', { name: 'Received' });
    await newcomer.getByText('retained', { exact: true }).waitFor();
    for (const text of ['sent once', 'acknowledged', 'exactly once', 'kept for those who come later']) {
      await newcomer.getByText(text).first().waitFor();
    }
    const wire = page.getByRole('region', { name: 'The packets between A and the server' }).locator('strong');
    for (const name of ['PUBLISH', 'PUBACK', 'PUBREC', 'PUBREL', 'PUBCOMP'])
      await wire.getByText(name, { exact: true }).first().waitFor();
    await eventually(async () => (await wire.allTextContents()).slice(0, 4)).toEqual([
      'CONNECT',
      'CONNACK',
      'SUBSCRIBE',
      'SUBACK',
    ]);
    await client.screenshot('start-light');
  });

  it('publishes nothing by itself, and says which step a rule forbids', async () => {
    const file = join(suite.built.directory, 'example-users.json');
    const command = join(suite.built.directory, 'apus.js');
    const { stdout } = spawnSync(process.execPath, [command, 'passwd'], { input: 'pass', encoding: 'utf8' });
    // The user may read everything, and write below their own name.
    const user = { name: 'ada', password: stdout.trim(), publish: ['ada/#'], subscribe: ['#'] };
    await writeFile(file, JSON.stringify({ users: [user] }));
    const broker = await suite.built.serve(['--users', file]);
    onTestFinished(() => broker.stop());
    const client = await suite.openUrl(broker.pageUrl, { context: await suite.newContext() });
    const { page } = client;
    const form = page.getByRole('form', { name: 'Sign in' });
    await form.getByLabel('User name').fill('ada');
    await form.getByLabel('Password', { exact: true }).fill('pass');
    await form.getByRole('button', { name: 'Sign in' }).click();
    await client.connected();
    const steps = page.getByRole('listitem').filter({ hasText: 'QoS' }).and(page.locator('[data-done]'));
    await run(page);
    await page.getByText('The broker refused it.').waitFor();
    await eventually(() => steps.filter({ hasText: 'QoS 0' }).count()).toBe(0);
    await page.getByLabel('Topic', { exact: true }).fill('ada/example');
    await run(page);
    await page.getByRole('region', { name: 'Received' }).getByText('retained', { exact: true }).waitFor();
    await eventually(() => steps.filter({ hasText: 'QoS 0' }).count()).toBe(1);
  });

  it('opens where the browser stores nothing', async () => {
    const context = await suite.newContext();
    await context.addInitScript(`for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
      Object.defineProperty(window, name, { get: () => { throw new DOMException('denied', 'SecurityError'); } });`);
    const client = await suite.open('messages', { context });
    await client.connected();
    await client.subscribe('denied/#');
    await suite.other.publishAsync('denied/1', 'x');
    await client.rows('denied/1').waitFor();
  });

  it('shows nothing of one broker under another, and removes its example once', async () => {
    const kept: string[] = [];
    suite.other.on('message', (topic, payload) => {
      if (topic.endsWith('/kept') && payload.length === 0) kept.push(topic);
    });
    await suite.other.subscribeAsync('apus/example/#');
    const client = await suite.openUrl(suite.served.pageUrl);
    const { page } = client;
    await client.connected();
    await run(page);
    const received = page.getByRole('region', { name: 'Received' });
    const wire = page.getByRole('region', { name: 'The packets between A and the server' });
    await received.getByText('retained', { exact: true }).waitFor();
    await client.newConnection('Elsewhere', 'ws://127.0.0.1:1/mqtt');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await client.openView('Start');
    await eventually(() => wire.locator('strong').count()).toBe(0);
    await eventually(() => received.getByText('exactly once').count()).toBe(0);
    // The topic is known before the example runs.
    await page
      .getByText(/apus\/example\/\w+\/#/)
      .first()
      .waitFor();
    await eventually(() => kept.length).toBe(1);
    await suite.other.publishAsync('apus/example/end', 'x', { qos: 1 });
    await eventually(() => kept.length).toBe(1);
    await suite.other.unsubscribeAsync('apus/example/#');
  });

  it.each(['Node door', 'Gateway door'])(
    'offers lines of code for the %s, with the address in them',
    async (door) => {
      const client = await suite.openUrl(suite.served.pageUrl);
      await client.page.locator('label', { hasText: door }).click();
      await eventually(() => client.page.locator('pre').textContent()).toContain(
        door === 'Node door' ? suite.served.nodeUrl : suite.served.gatewayUrl,
      );
      await client.page.getByRole('button', { name: 'Copy the code' }).waitFor();
    },
  );

  it('offers lines that work: their messages appear under Messages', async () => {
    const client = await suite.openUrl(suite.served.pageUrl);
    const lines = client.page.locator('pre');
    await eventually(() => lines.textContent()).toContain(suite.served.nodeUrl);
    const code = (await lines.textContent()) ?? '';
    const file = join(suite.built.directory, 'copied.mjs');
    await writeFile(file, code);
    await client.openView('Messages');
    await client.subscription('hello/#').getByText('QoS 1').waitFor();
    const child = spawn(process.execPath, [file]);
    const [line] = await Promise.all([
      new Promise((resolve) => child.stdout.once('data', (data: Buffer) => resolve(String(data).trim()))),
      client.rows('hello/world', 'Hello').waitFor(),
    ]);
    child.kill();
    expect(line).toBe('hello/world Hello');
  });

  it('opens in the dark and on a phone, without scrolling sideways', async () => {
    const client = await suite.openUrl(suite.served.pageUrl, {
      width: 360,
      height: 740,
      colorScheme: 'dark',
    });
    await client.page.getByText('and gets the retained message at once').waitFor();
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    await client.screenshot('start-phone-dark');
  });

  it.each([
    ['fades', true, 1],
    ['is gone at once for users who have asked for less motion', false, 0],
  ] as const)('a menu that is closed %s', async (_how, motion, count) => {
    const client = await suite.openUrl(suite.served.pageUrl, { motion });
    await client.page.getByRole('button', { name: 'Colours' }).click();
    const dark = client.page.getByRole('menuitem', { name: 'Dark' });
    await dark.waitFor();
    // Checked in the task after the click, before the next frame: an element that fades is still there.
    const menusLeft = await dark.evaluate(async (item: HTMLElement) => {
      item.click();
      await new Promise((resolve) => setTimeout(resolve, 0));
      return item.ownerDocument.querySelectorAll('[role="menu"]').length;
    });
    expect(menusLeft).toBe(count);
  });

  it('satisfies axe in light and in dark colours', async () => {
    const client = await suite.openUrl(suite.served.pageUrl);
    await run(client.page);
    await client.page
      .getByRole('region', { name: 'Received' })
      .getByText('retained', { exact: true })
      .waitFor();
    expect(await client.accessibilityProblemsInBothColours('start-axe')).toEqual([]);
  });

  describe('served as static files', () => {
    let site: StaticSite;

    beforeAll(async () => {
      site = await suite.built.serveFiles('/tools/mqtt/');
    });
    afterAll(async () => site?.stop());

    async function newConnection(page: Page, url: string): Promise<void> {
      await page.getByRole('main').getByRole('button', { name: 'New connection', exact: true }).click();
      await page.getByRole('dialog').getByLabel('URL').fill(url);
      await page.getByRole('dialog').getByRole('button', { name: 'Connect', exact: true }).click();
    }

    it('asks where the broker is, finds out which door it is, and connects', async () => {
      const client = await suite.openUrl(site.url);
      const { page } = client;
      await page.getByText('Tell the client where your broker is.').waitFor();
      await client.screenshot('start-endpoint-light');
      expect(await client.accessibilityProblems()).toEqual([]);
      await newConnection(page, suite.served.gatewayUrl);
      await client.connected();
      await page.getByRole('banner').getByText('gateway door').waitFor();
    });

    it('publishes nothing at a broker that is not its own before the user agrees', async () => {
      const client = await suite.openUrl(site.url);
      const { page } = client;
      await newConnection(page, suite.served.nodeUrl);
      await client.connected();
      await client.openView('Start');
      await page.getByText('Nothing yet').first().waitFor();
      await run(page);
      await page.getByRole('region', { name: 'Received' }).getByText('retained', { exact: true }).waitFor();
    });
  });
});
