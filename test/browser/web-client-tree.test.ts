import { connectAsync } from 'mqtt';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** More topics than the tree renders, so that the test covers those out of sight. */
const MACHINES = 400;
const MEASUREMENTS = ['speed', 'state', 'temperature'] as const;
const TOPICS = MACHINES * MEASUREMENTS.length;

clientSuite('the topic tree of the web client', (suite) => {
  const open = (options: PageOptions = {}): Promise<ClientPage> => suite.openConnected('tree', options);

  async function retain(topic: string, payload: string): Promise<void> {
    await suite.other.publishAsync(topic, payload, { qos: 1, retain: true });
  }

  /** A plant whose topics all have a retained message, and one beside it that is not cleared. */
  async function buildPlant(name: string): Promise<void> {
    const topics = Array.from({ length: TOPICS }, (_, index) => {
      const machine = Math.floor(index / MEASUREMENTS.length);
      return `${name}/machine-${machine}/${MEASUREMENTS[index % MEASUREMENTS.length]}`;
    });
    await Promise.all(topics.map((topic) => retain(topic, JSON.stringify({ of: topic }))));
    await retain(`${name}-beside`, 'stays');
  }

  /**
   * The retained messages that a new subscriber gets, up to a message published after it has subscribed. Many retained
   * messages go out a part at a time, and that message may overtake them: `expected` is the number to wait for.
   */
  async function retainedAt(filter: string, expected = 0): Promise<string[]> {
    const client = await connectAsync(suite.served.nodeUrl, { protocolVersion: 5 });
    const topics: string[] = [];
    let isEnd = false;
    const ended = new Promise<void>((resolve) => {
      client.on('message', (topic, _payload, { retain: isRetained }) => {
        if (topic === 'end/of/retained') isEnd = true;
        else if (isRetained) topics.push(topic);
        if (isEnd && topics.length >= expected) resolve();
      });
    });
    await client.subscribeAsync(filter, { qos: 1 });
    await client.subscribeAsync('end/of/retained', { qos: 1 });
    await client.publishAsync('end/of/retained', '', { qos: 1 });
    await ended;
    await client.endAsync();
    return topics;
  }

  function line(client: ClientPage, name: string): Locator {
    return client.page
      .getByRole('treeitem')
      .filter({ has: client.page.getByText(name, { exact: true }) })
      .first();
  }

  async function count(client: ClientPage, text: string): Promise<void> {
    await client.page.getByTestId('topic-count').getByText(text, { exact: true }).waitFor();
  }

  async function search(client: ClientPage, text: string): Promise<void> {
    await client.page.getByRole('searchbox', { name: 'Search the topics' }).fill(text);
  }

  /** Subscribes in the messages view, and comes back. */
  async function subscribe(client: ClientPage, filter: string): Promise<void> {
    await client.openView('Messages');
    await client.subscribe(filter);
    await client.openView('Topics');
  }

  it('shows every topic with its last value, its counts and whether it is retained', async () => {
    await buildPlant('shown');
    const client = await open();
    const { page } = client;
    await subscribe(client, 'shown/#');
    await count(client, '1,200 topics');
    await line(client, 'shown').getByText('1,200 topics · 1,200 messages').waitFor();
    await line(client, 'shown').click();
    await page.getByText('1,200 retained below').waitFor();
    await page.getByRole('button', { name: 'Open all' }).click();
    const temperature = line(client, 'temperature');
    await temperature.getByText('{"of":"shown/machine-0/temperature"}').waitFor();
    await temperature.getByTitle('retained').waitFor();
    await suite.other.publishAsync('shown/machine-0/temperature', '{"value":17}', { qos: 1 });
    await temperature.getByText('{"value":17}').waitFor();
    await temperature.getByText('2 messages').waitFor();
    await temperature.click();
    await page.getByRole('complementary').getByText('17', { exact: true }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-light');
  });

  it('sorts topics in the order that people expect, and scrolls to its end', async () => {
    const client = await open();
    await subscribe(client, 'shown/#');
    await count(client, '1,200 topics');
    const { page } = client;
    await page.getByRole('button', { name: 'Close all' }).click();
    await line(client, 'shown').click();
    const tree = page.getByRole('tree', { name: 'Topics' });
    await tree.press('ArrowRight');
    await eventually(async () => {
      const names = await page.getByRole('treeitem').allTextContents();
      return names.slice(1, 5).map((text) => text.replace(/3 topics.*/, ''));
    }).toEqual(['machine-0', 'machine-1', 'machine-2', 'machine-3']);
    await tree.press('End');
    await line(client, 'machine-399').waitFor();
    await eventually(() => line(client, 'machine-399').getAttribute('aria-posinset')).toBe('400');
    await tree.press('ArrowRight');
    await tree.press('ArrowRight');
    await eventually(() => line(client, 'speed').getAttribute('aria-selected')).toBe('true');
    await tree.press('ArrowLeft');
    await tree.press('ArrowLeft');
    await eventually(() => line(client, 'machine-399').getAttribute('aria-expanded')).toBe('false');
  });

  it('finds topics by text and by filter, and then shows the levels that were open', async () => {
    const client = await open();
    await subscribe(client, 'shown/#');
    await count(client, '1,200 topics');
    await client.page.getByRole('button', { name: 'Close all' }).click();
    await search(client, 'MACHINE-39/');
    await count(client, '3 of 1,200 topics');
    await eventually(() => client.page.getByRole('treeitem').count()).toBe(5);
    await search(client, 'shown/+/state');
    await count(client, '400 of 1,200 topics');
    await client.screenshot('tree-search-light');
    await search(client, 'nowhere');
    await client.page.getByText('No topic fits the search').waitFor();
    await search(client, '');
    await count(client, '1,200 topics');
    await eventually(() => client.page.getByRole('treeitem').count()).toBe(1);
  });

  it('clears the retained messages below a topic after confirmation, and no others', async () => {
    await buildPlant('cleared');
    const client = await open();
    const { page } = client;
    await subscribe(client, 'cleared/#');
    await count(client, '1,200 topics');
    await line(client, 'cleared').click();
    await page.getByRole('button', { name: 'Clear retained messages …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear retained messages' });
    await dialog.getByText('At cleared and below').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-clear-light');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await retainedAt('cleared/#', TOPICS)).toHaveLength(TOPICS);
    await page.getByRole('button', { name: 'Clear retained messages …' }).click();
    await dialog.getByRole('button', { name: 'Clear 1,200 topics' }).click();
    await dialog.getByText('1,200 of 1,200 cleared. Done.').waitFor();
    expect(await retainedAt('cleared/#')).toEqual([]);
    expect(await retainedAt('cleared-beside', 1)).toEqual(['cleared-beside']);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('1,200 retained below').waitFor({ state: 'hidden' });
  });

  it('clears nothing while there is no connection', async () => {
    await retain('lost/1', 'x');
    const client = await open();
    const { page } = client;
    await subscribe(client, 'lost/#');
    await count(client, '1 topic');
    await line(client, 'lost').click();
    await page.getByRole('button', { name: 'Clear retained messages …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Clear 1 topic' }).waitFor();
    await page.getByRole('button', { name: 'Disconnect', includeHidden: true }).dispatchEvent('click');
    await eventually(() => dialog.getByRole('button', { name: 'Clear 1 topic' }).isDisabled()).toBe(true);
    expect(await retainedAt('lost/#', 1)).toEqual(['lost/1']);
  });

  it('leads to messages, to publishing and to charts', async () => {
    const client = await open();
    const { page } = client;
    await subscribe(client, 'lead/#');
    await suite.other.publishAsync('lead/here', '{"value":3}', { qos: 1 });
    await page.getByRole('button', { name: 'Open all' }).click();
    await line(client, 'here').click();
    await page.getByRole('complementary').getByTitle('Chart this number').click();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Show its messages' }).click();
    await eventually(() => page.getByLabel('Filter by topic').inputValue()).toBe('lead/here');
    await client.openView('Topics');
    await page.getByRole('button', { name: 'Publish to this topic' }).click();
    const form = page.getByRole('form', { name: 'Publish' });
    await eventually(() => form.getByLabel('Topic', { exact: true }).inputValue()).toBe('lead/here');
    await client.openView('Charts');
    await page.getByRole('table', { name: 'Series' }).getByText('lead/here').waitFor();
  });

  it('can be read in the dark and on a phone', async () => {
    const client = await open({ colorScheme: 'dark' });
    const { page } = client;
    await subscribe(client, 'shown/#');
    await count(client, '1,200 topics');
    await page.getByRole('button', { name: 'Open all' }).click();
    await line(client, 'temperature').click();
    await page.getByRole('button', { name: 'Clear retained messages …' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('dialog', { name: 'Topic' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-phone-details');
    await page.getByRole('button', { name: 'Close the details' }).click();
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-phone-dark');
  });

  it('goes back through the last values of a topic, with what has changed, and follows the newest again', async () => {
    const client = await open();
    const { page } = client;
    await subscribe(client, 'history/#');
    for (const value of [20, 21, 25]) {
      await suite.other.publishAsync('history/temperature', JSON.stringify({ value }), { qos: 1 });
    }
    await page.getByRole('button', { name: 'Open all' }).click();
    await line(client, 'temperature').click();
    const history = page.getByRole('group', { name: 'The last values' });
    const place = page.getByTestId('history-place');
    await place.filter({ hasText: /^3 of 3 · / }).waitFor();
    const slider = history.getByRole('slider', { name: 'Which of the last values' });
    await slider.press('ArrowLeft');
    await place.filter({ hasText: /^2 of 3 · / }).waitFor();
    await eventually(() => slider.getAttribute('aria-valuetext')).toMatch(/^2 of 3 · /);
    await page.locator('label', { hasText: 'Changes' }).click();
    const change = page.getByRole('group', { name: 'List of changes' }).getByRole('listitem');
    await eventually(() => change.textContent()).toBe('$.valuechanged2021');
    // Messages that arrive meanwhile do not move it.
    await suite.other.publishAsync('history/temperature', '{"value":30}', { qos: 1 });
    await place.filter({ hasText: /^2 of 4 · / }).waitFor();
    await eventually(() => change.textContent()).toBe('$.valuechanged2021');
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('tree-history-light');
    await history.getByRole('button', { name: 'Newest' }).click();
    await place.filter({ hasText: /^4 of 4 · / }).waitFor();
  });
});
