import type { Locator } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('messages in the web client', (suite) => {
  const open = (options: PageOptions = {}): Promise<ClientPage> => suite.openConnected('messages', options);

  /** A view handles its keys a moment after it is rendered. */
  async function pressUntilFocused(client: ClientPage, key: string, field: Locator): Promise<void> {
    const isFocused = (): Promise<boolean> => field.and(client.page.locator(':focus')).isVisible();
    await eventually(async () => {
      if (!(await isFocused())) await client.page.keyboard.press(key);
      return await isFocused();
    }).toBe(true);
  }

  const urlOf = (name: string): string =>
    name === 'This broker' ? suite.served.nodeUrl : suite.served.gatewayUrl;

  describe.each(['This broker', 'This broker, gateway door'])('over “%s”', (name) => {
    it('publishes and receives at every QoS, and a retained message for a later client', async () => {
      const client = await open();
      const { page } = client;
      await page.getByRole('navigation').getByTitle(urlOf(name)).click();
      if (name !== 'This broker') {
        await page.getByRole('button', { name: 'Connect', exact: true }).click();
        await client.connected();
      }
      const topic = name === 'This broker' ? 'doors/node' : 'doors/gateway';
      await client.publish(`${topic}/kept`, 'kept for later', 1, true);
      await client.subscribe(`${topic}/#`);
      await client.rows('kept for later', 'R').first().waitFor();
      for (const qos of [0, 1, 2] as const) await client.publish(`${topic}/${qos}`, `at ${qos}`, qos);
      await page.getByRole('search', { name: 'Filter' }).locator('label', { hasText: 'Received' }).click();
      await eventually(() => client.topics()).toEqual([
        `${topic}/2`,
        `${topic}/1`,
        `${topic}/0`,
        `${topic}/kept`,
      ]);
      await eventually(() => client.rows().locator('[data-column="qos"]').allTextContents()).toEqual([
        '1',
        '1',
        '0',
        '1',
      ]);
      await eventually(() => client.subscription(`${topic}/#`).textContent()).toContain('4 received');
    });

    it('receives the messages of a client of the other door', async () => {
      const client = await open();
      const { page } = client;
      await page.getByRole('navigation').getByTitle(urlOf(name)).click();
      if (name !== 'This broker') await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await client.connected();
      await client.subscribe('crossing/#');
      await suite.other.publishAsync('crossing/here', 'from elsewhere', { qos: 1 });
      await client.rows('crossing/here', 'from elsewhere').first().waitFor();
    });
  });

  it('finds messages by topic filter, text, regular expression and JSONPath', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('find/#');
    await suite.other.publishAsync('find/kitchen/temperature', '{"value":21.5,"unit":"C"}');
    await suite.other.publishAsync('find/hall/temperature', '{"value":17,"unit":"C"}');
    await suite.other.publishAsync('find/hall/light', 'ON');
    await client.rows('find/hall/light').waitFor();
    const topic = page.getByLabel('Filter by topic');
    const query = page.getByLabel('Search the payloads');
    const kind = async (label: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'How to search' }).selectOption({ label });
    };
    await topic.fill('find/+/temperature');
    await eventually(() => client.topics()).toEqual(['find/hall/temperature', 'find/kitchen/temperature']);
    await kind('JSONPath');
    await query.fill('$.value > 20');
    await eventually(() => client.topics()).toEqual(['find/kitchen/temperature']);
    await client.screenshot('messages-filter-light');
    await topic.fill('');
    await kind('Regex');
    await query.fill('^O[NF]');
    await eventually(() => client.topics()).toEqual(['find/hall/light']);
    await query.fill('(');
    await eventually(() => query.getAttribute('aria-invalid')).toBe('true');
    // A query without a match leaves an empty list. The wrong query after it shows its error.
    await query.fill('no such thing');
    await page.getByText('No message fits the filter').waitFor();
    await kind('JSONPath');
    await query.fill('$[');
    await page.getByText('This cannot be searched for').waitFor();
    await eventually(() => page.getByText('No message yet').count()).toBe(0);
    await kind('Text');
    await query.fill('"unit"');
    await eventually(() => client.topics()).toEqual(['find/hall/temperature', 'find/kitchen/temperature']);
    // The filter also applies to messages that arrive while it is set.
    await suite.other.publishAsync('find/attic/temperature', '{"value":30,"unit":"C"}');
    await suite.other.publishAsync('find/attic/light', 'OFF');
    await eventually(() => client.topics().then((topics) => topics[0])).toBe('find/attic/temperature');
  });

  it.each([
    ['messages', 'Messages, newest first'],
    ['wire', 'What went over the wire, newest first'],
  ])('opens the row under the pointer while others come: %s', async (view, name) => {
    const client = await open();
    const { page } = client;
    await client.subscribe('moving/#');
    let sent = 0;
    const timer = setInterval(() => void suite.other.publishAsync(`moving/${++sent}`, 'x'), 27);
    onTestFinished(() => clearInterval(timer));
    await client.rows('moving/9').first().waitFor();
    if (view === 'wire') await page.getByRole('link', { name: 'Wire', exact: true }).click();
    const rows = page.getByRole('grid', { name }).locator('[aria-selected]');
    const topicOf = async (row: Locator): Promise<string | undefined> =>
      /moving\/\d+/.exec((await row.textContent()) ?? '')?.[0];
    // Beside the details a row has two lines.
    for (const at of [3, 6, 9]) {
      await page.mouse.move(5, 300);
      const box = await rows.nth(at).boundingBox();
      if (box === null) throw new Error('the row has no place');
      await page.mouse.move(box.x + 40, box.y + box.height / 2);
      // The table is drawn a moment after it has begun to stand still; a hand needs longer.
      const entered = sent;
      await eventually(() => sent - entered).toBeGreaterThan(8);
      await client.settled();
      const aimedAt = await topicOf(rows.nth(at));
      const before = sent;
      await eventually(() => sent - before).toBeGreaterThan(8);
      await page.mouse.down();
      await page.mouse.up();
      await eventually(() => topicOf(page.locator('[role="row"][aria-selected="true"]'))).toBe(aimedAt);
    }
    if (view === 'messages') await page.getByRole('button', { name: /^\d+ new messages$/ }).waitFor();
    await page.mouse.move(5, 300);
    const last = sent;
    // A message is in sight for some tenths of a second.
    const newest = async () => Number(/\d+$/.exec((await client.topics())[0] ?? '')?.[0]);
    if (view === 'messages') await eventually(newest).toBeGreaterThanOrEqual(last);
    else await eventually(() => rows.first().textContent()).not.toBe('');
  });

  it('stands still while paused, and counts new messages', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('pause/#');
    await suite.other.publishAsync('pause/1', 'before');
    await client.rows('pause/1').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await suite.other.publishAsync('pause/2', 'meanwhile');
    await page.getByRole('button', { name: '1 new message' }).waitFor();
    await eventually(() => client.topics()).toEqual(['pause/1']);
    await page.getByRole('button', { name: '1 new message' }).click();
    await eventually(() => client.topics()).toEqual(['pause/2', 'pause/1']);
    await page.getByRole('button', { name: 'Clear the list' }).click();
    await page.getByText('No message yet').waitFor();
  });

  it('shows a message decoded, its properties, and its packet byte by byte', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('look/#');
    await suite.other.publishAsync('look/here', '{"a":[1,2]}', {
      qos: 1,
      retain: true,
      properties: {
        contentType: 'application/json',
        userProperties: { origin: 'test' },
        responseTopic: 'look/back',
      },
    });
    await client.rows('look/here').click();
    const details = page.getByRole('complementary');
    await details.getByRole('tab', { name: 'Properties' }).click();
    for (const text of ['application/json', 'origin = test', 'look/back'])
      await details.getByText(text).waitFor();
    await details.getByRole('tab', { name: 'Packet' }).click();
    await details.getByRole('row', { name: 'Topic Name look/here' }).waitFor();
    await details.getByRole('row', { name: /User Property "origin" = "test"/ }).waitFor();
    // The topic's length and first letters.
    const bytes = details.getByRole('group', { name: 'Bytes' });
    await eventually(async () => (await bytes.textContent())?.replaceAll(/\s/g, '')).toContain(
      '00096c6f6f6b',
    );
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('messages-packet-light');
    await details.getByRole('button', { name: 'Answer to its response topic' }).click();
    const topic = page.getByRole('form', { name: 'Publish' }).getByLabel('Topic', { exact: true });
    await eventually(() => topic.inputValue()).toBe('look/back');
  });

  it('shows payloads as text, with any content', async () => {
    const client = await open();
    await client.subscribe('evil/#');
    await suite.other.publishAsync('evil/<b>topic</b>', '<img src=x onerror=alert(1)>');
    await client.rows('<img src=x onerror=alert(1)>').click();
    await client.page.getByRole('complementary').getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await eventually(() => client.page.locator('main img, main b').count()).toBe(0);
  });

  it('shows the invisible characters of a topic, in the list, the details and the tree', async () => {
    const client = await open();
    await client.subscribe('unseen/#');
    await suite.other.publishAsync('unseen/\u202Egpj.exe', 'x');
    await client.rows('unseen/\\u{202e}gpj.exe').click();
    await client.page.getByRole('heading', { name: 'unseen/\\u{202e}gpj.exe' }).waitFor();
    await client.openView('Topics');
    await client.page.getByLabel('Search the topics').fill('gpj');
    await client.page.getByRole('treeitem').filter({ hasText: '\\u{202e}gpj.exe' }).waitFor();
  });

  it('can be used by keyboard alone', async () => {
    const client = await open();
    const { page } = client;
    await client.subscription('hello/#').waitFor();
    await pressUntilFocused(client, 'n', page.getByLabel('Topic filter', { exact: true }));
    await page.keyboard.type('keys/#');
    await page.keyboard.press('Enter');
    await client.subscription('keys/#').getByText('QoS 1').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('grid').focus();
    const form = page.getByRole('form', { name: 'Publish' });
    await pressUntilFocused(client, 'p', form.getByLabel('Topic', { exact: true }));
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('keys/pressed');
    await page.keyboard.press('ControlOrMeta+Enter');
    await client.rows('keys/pressed').first().waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('complementary').getByText('keys/pressed').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('complementary').count()).toBe(0);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await client.screenshot('shortcuts-light');
  });

  it('switches a subscription off and on, and shows what the server granted', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('switch/#');
    const item = client.subscription('switch/#');
    await item.getByRole('switch').press('Space');
    await item.getByText('off', { exact: true }).waitFor();
    await suite.other.publishAsync('switch/1', 'unheard', { qos: 1, retain: true });
    await item.getByRole('switch').press('Space');
    await client.rows('switch/1', 'R').waitFor();
    await item.getByRole('button', { name: 'Unsubscribe and remove switch/#' }).click();
    await eventually(() => item.count()).toBe(0);
    await page.getByRole('button', { name: 'New subscription, with all options' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Topic filter').fill('a/#/b');
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    await dialog.getByText('has # only as its whole last level').waitFor();
    await dialog.getByLabel('Topic filter').fill('$share/workers/switch/+');
    await dialog.getByLabel('Alias').fill('the workers');
    await dialog.getByRole('radio', { name: 'pink' }).click();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('subscription-dialog-light');
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByText('the workers').waitFor();
    await client.subscription('$share/workers/switch/+').getByText('shared', { exact: true }).waitFor();
  });

  it('keeps what was published, to be published again', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('drafts/#');
    await client.publish('drafts/first', 'one');
    const topic = page.getByRole('form', { name: 'Publish' }).getByLabel('Topic', { exact: true });
    await topic.fill('else');
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('menuitem', { name: /drafts\/first/ }).click();
    await eventually(() => topic.inputValue()).toBe('drafts/first');
  });

  it('explains every packet of the connection', async () => {
    const client = await open();
    const { page } = client;
    await client.publish('packets/here', 'hi', 2);
    await client.openView('Wire');
    const rows = page
      .getByRole('grid', { name: 'What went over the wire, newest first' })
      .locator('[aria-selected]');
    for (const name of ['CONNECT', 'CONNACK', 'PUBLISH', 'PUBREC', 'PUBREL', 'PUBCOMP']) {
      await rows.filter({ hasText: name }).first().waitFor();
    }
    await rows.filter({ hasText: 'CONNACK' }).click();
    await page.getByRole('row', { name: /Assigned Client Identifier/ }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('packets-light');
    await page.getByRole('checkbox', { name: 'PUBLISH and acknowledgements' }).uncheck();
    await eventually(() => rows.filter({ hasText: 'PUBCOMP' }).count()).toBe(0);
  });

  it('satisfies axe with messages in light and in dark colours', async () => {
    const client = await open();
    await client.subscribe('look/#');
    await suite.other.publishAsync('look/axe', '{"value":1}', { qos: 1 });
    await client.rows('look/axe').click();
    await client.page.getByRole('complementary').getByRole('tab', { name: 'Packet' }).waitFor();
    await client.page.getByRole('button', { name: 'Properties', exact: true }).click();
    await client.page.getByLabel('Content type').waitFor();
    expect(await client.accessibilityProblemsInBothColours('messages')).toEqual([]);
  });

  it('fits a phone, a part at a time', async () => {
    const client = await open({ width: 360, height: 740 });
    const { page } = client;
    const part = (name: string) =>
      page.getByRole('radiogroup', { name: 'Part of the view' }).locator('label', { hasText: name });
    await part('Subscriptions').click();
    await client.subscribe('phone/#');
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('phone-subscriptions');
    await part('Publish').click();
    await client.publish('phone/call', 'hello phone');
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('phone-publish');
    await part('Messages').click();
    await client.rows('phone/call').first().click();
    await page.getByRole('dialog').getByText('hello phone').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('phone-details');
    await page.getByRole('button', { name: 'Close the details' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    await client.screenshot('phone-messages');
  });
});
