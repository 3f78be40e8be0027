import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashPassword } from '@apus/identity';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

const KEY = 'the-key-of-this-test-0123456789';
const VIEWER = 'the-viewer-of-this-test-0123456789';

clientSuite('the web client’s admin view, of what the broker remembers', (suite) => {
  async function device(clientId: string, options: IClientOptions = {}): Promise<MqttClient> {
    const client = await connectAsync(suite.served.nodeUrl, {
      ...{ protocolVersion: 5, clientId, reconnectPeriod: 0, ...options },
    });
    onTestFinished(() => client.endAsync(true));
    return client;
  }

  /** A client that has missed a message, and does not fetch another one. */
  async function lagging(clientId: string, topic: string): Promise<void> {
    const properties = { sessionExpiryInterval: 3_600, maximumPacketSize: 200 };
    const client = await device(clientId, { clean: false, properties });
    await client.subscribeAsync(`${topic}/#`, { qos: 1 });
    await suite.other.publishAsync(`${topic}/large`, 'x'.repeat(500), { qos: 1 });
    await client.endAsync();
    await suite.other.publishAsync(`${topic}/small`, 'x', { qos: 1 });
  }

  it('shows which clients are behind, which have missed messages and why, and the history of one', async () => {
    await lagging('lag/one', 'lagging');
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('tab', { name: 'Slow clients' }).click();
    const behind = page.getByRole('table', { name: 'Clients that are behind, the longest first' });
    await behind.getByRole('row', { name: /lag\/one [\d.]+ s lagging\/small 1 0 not connected/ }).waitFor();
    const dropping = page.getByRole('table', { name: 'Clients that have missed messages, the most first' });
    await dropping.getByRole('row', { name: /lag\/one 1 0 0 1 0 0/ }).waitFor();
    expect(await client.accessibilityProblemsInBothColours('observing-slow')).toEqual([]);

    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByLabel('The whole client identifier').fill('lag/one');
    const events = page.getByRole('table', { name: 'Events' });
    await events.getByRole('row', { name: /disconnected It said goodbye 1 lag\/one/ }).waitFor();
    await events.getByRole('row', { name: /connected – 1 lag\/one/ }).waitFor();
    expect(await client.accessibilityProblemsInBothColours('observing-events')).toEqual([]);

    await page.getByRole('tab', { name: 'Clients', exact: true }).click();
    await page.getByRole('button', { name: 'lag/one', exact: true }).click();
    const history = page.getByRole('dialog').getByRole('table', { name: 'History' });
    await history.getByRole('row', { name: /disconnected It said goodbye/ }).waitFor();
    expect(await client.accessibilityProblemsInBothColours('observing-history')).toEqual([]);
  });

  it('traces the log of a client as it goes, by keyboard alone, and a message breaks nothing', async () => {
    const sensor = await device('traced');
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('tab', { name: 'Clients', exact: true }).focus();
    const trace = page.getByRole('tab', { name: 'Log trace' });
    await eventually(async () => {
      await page.keyboard.press('ArrowRight');
      return await trace.getAttribute('aria-selected');
    }).toBe('true');
    await page.getByLabel('Value', { exact: true }).focus();
    await page.keyboard.type('traced');
    await page.keyboard.press('Enter');
    await page.getByText('Running: 0 lines').waitFor();
    const topic = `a/\u202e<img src=x>/\u001b[2J`;
    await sensor.publishAsync(topic, 'x', { qos: 1 });
    const line = page.getByRole('row').filter({ hasText: 'publish' });
    await line.getByText('topic=a/\\u{202e}<img src=x>/\\u{1b}[2J').waitFor();
    await page.getByText('Running: 1 line', { exact: true }).waitFor();
    expect(await client.accessibilityProblemsInBothColours('observing-trace')).toEqual([]);
    await page.getByRole('button', { name: 'Stop', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Over: 1 line', { exact: true }).waitFor();
    await line.waitFor();
    const by = page.getByRole('combobox', { name: 'By', exact: true });
    await by.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Topic filter' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await eventually(() => by.inputValue()).toBe('Topic filter');
    await page.getByLabel('Value', { exact: true }).fill('a/#/b');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('alert').getByText('The broker has refused').waitFor();
    client.complaints.length = 0;
  });

  it('shows the payload of a retained message', async () => {
    await suite.other.publishAsync('kept/json', '{"temperature": 21.5}', { qos: 1, retain: true });
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByRole('tab', { name: 'Retained messages' }).click();
    await page.getByRole('button', { name: 'kept/json', exact: true }).click();
    const drawer = page.getByRole('dialog', { name: 'Retained message of kept/json' });
    await drawer.getByText('temperature').waitFor();
    await drawer.getByText('21.5').waitFor();
    expect(await client.accessibilityProblemsInBothColours('observing-retained')).toEqual([]);
  });

  it('draws what the broker has kept, also after the page was closed', async () => {
    const client = await suite.open('admin');
    const { page } = client;
    await page.getByText('24 h', { exact: true }).click();
    await page.getByRole('img', { name: 'Messages over the last 24 h' }).waitFor();
    await page.getByText('Drops by reason', { exact: true }).click();
    await page.getByRole('img', { name: 'Drops by reason over the last 24 h' }).waitFor();
    await page.getByText('Queue full', { exact: true }).first().waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('observing-graph-light');
  });

  it.each([
    [1366, 768],
    [800, 600],
    [390, 844],
    // 400 % of 1280 pixels.
    [320, 256],
  ])('fits %i by %i pixels', async (width, height) => {
    await lagging(`fits/${width}`, `fits${width}`);
    const client = await suite.open('admin', { width, height });
    const { page } = client;
    for (const tab of ['Slow clients', 'Events', 'Log trace', 'Alarms', 'Retained messages']) {
      await page.getByRole('tab', { name: tab }).click();
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      await client.screenshot(`observing-${tab}-${width}`);
    }
    expect(await client.accessibilityProblemsInBothColours(`observing-${width}`)).toEqual([]);
  });

  describe('at a broker with users and keys', () => {
    let hash: string;
    beforeAll(async () => {
      hash = await hashPassword(Buffer.from('secret'));
    });

    async function guarded() {
      const at = (name: string) => join(suite.built.directory, name);
      const [users, key, viewer] = [at('users.json'), at('api.key'), at('viewer.key')];
      const ada = { name: 'ada', password: hash, publish: ['#'], subscribe: ['#'] };
      await writeFile(users, JSON.stringify({ users: [ada] }));
      await writeFile(key, KEY);
      await writeFile(viewer, VIEWER);
      const flags = ['--users', users, '--api-key-file', key, '--api-viewer-key-file', viewer];
      const node = await suite.built.serve([...flags, '--sys-interval-seconds', '1']);
      onTestFinished(() => node.stop());
      return { node, users };
    }

    async function openAdmin(pageUrl: string, key: string) {
      const client = await suite.openUrl(`${pageUrl}#/admin`);
      await client.page.getByLabel('Key of the API').fill(key);
      await client.page.getByRole('button', { name: 'Use it' }).click();
      return client;
    }

    const canConnect = async (url: string, username: string, password: string): Promise<boolean> => {
      try {
        const client = await connectAsync(url, { ...{ username, password, reconnectPeriod: 0 } });
        await client.endAsync(true);
        return true;
      } catch {
        return false;
      }
    };

    it('adds, edits and removes users, and says in words when the file is wrong', async () => {
      const { node, users } = await guarded();
      const client = await openAdmin(node.pageUrl, KEY);
      const { page } = client;
      await page.getByRole('tab', { name: 'Users' }).click();
      await page.getByRole('row', { name: /^ada # #/ }).waitFor();
      await page.getByRole('button', { name: 'Add a user …' }).click();
      const dialog = page.getByRole('dialog', { name: 'A user' });
      await dialog.getByLabel('Name').fill('bob');
      await dialog.getByLabel('Password', { exact: true }).fill('hunter2');
      await dialog.getByLabel('May publish to').fill('b/#\nc/+');
      expect(await client.accessibilityProblemsInBothColours('observing-user')).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      const row = page.getByRole('row').filter({ hasText: 'bob' });
      await row.getByText('b/#, c/+').waitFor();
      expect(await canConnect(node.nodeUrl, 'bob', 'hunter2')).toBe(true);
      expect(await client.accessibilityProblemsInBothColours('observing-users')).toEqual([]);

      await row.getByRole('button', { name: 'Edit bob' }).click();
      const edit = page.getByRole('dialog', { name: 'Edit bob' });
      await edit.getByLabel('May publish to').fill('a/#/b');
      await edit.getByRole('button', { name: 'Save' }).click();
      await edit.getByRole('alert').waitFor();
      client.complaints.length = 0;
      await edit.getByLabel('May publish to').fill('d/#');
      await edit.getByRole('button', { name: 'Save' }).click();
      await row.getByText('d/#').waitFor();
      expect(await canConnect(node.nodeUrl, 'bob', 'hunter2')).toBe(true);
      await row.getByRole('button', { name: 'Remove bob' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      await eventually(() => row.count()).toBe(0);
      expect(await canConnect(node.nodeUrl, 'bob', 'hunter2')).toBe(false);

      await page.getByRole('tab', { name: 'Retained messages' }).click();
      await page.getByText(/^\d+ more of the broker itself: search for \$SYS\/#$/).waitFor();

      await writeFile(users, '{');
      await page.getByText('The users file is wrong. It says:', { exact: false }).first().waitFor();
      await page.getByRole('tab', { name: 'Alarms' }).click();
      await page.getByRole('table', { name: 'Now' }).getByText('The users file is wrong').waitFor();
      expect(await client.accessibilityProblemsInBothColours('observing-alarms')).toEqual([]);
      // The browser logs errors for what was refused.
      client.complaints.length = 0;
    });

    it('lets a viewer look, and tells it what it may not do', async () => {
      const { node } = await guarded();
      const client = await openAdmin(node.pageUrl, VIEWER);
      const { page } = client;
      await page.getByRole('tab', { name: 'Users' }).click();
      await page.getByRole('button', { name: 'Remove ada' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
      await dialog.getByText('This key may look at everything, and change nothing.').waitFor();
      client.complaints.length = 0;
    });
  });

  it('says in a sentence that a broker has no users file', async () => {
    const client = await suite.open('admin');
    await client.page.getByRole('tab', { name: 'Users' }).click();
    await client.page.getByText('This node has no users file: start it with --users FILE.').waitFor();
    client.complaints.length = 0;
  });
});
