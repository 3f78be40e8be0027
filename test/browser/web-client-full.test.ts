import { connectAsync, type IClientPublishOptions } from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import { cases } from '../support/runs.ts';
import type { ClientPage, Colours } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

interface Look {
  /** More than one: the page switches between them in every view that is checked. */
  readonly colours: readonly [Colours, ...Colours[]];
  readonly width: number;
  readonly height: number;
}

/** Sizes of windows. In CI every view is checked in both colours, in a wide window and on a phone. */
const LOOKS = cases<Look>(
  [{ colours: ['light'], width: 1_280, height: 800 }],
  [
    { colours: ['dark', 'light'], width: 390, height: 844 },
    { colours: ['dark'], width: 1_920, height: 1_080 },
  ],
);

const ROOT = '#full';

const RECORDING = [
  '{"time":"2026-05-01T10:00:00Z","topic":"lab/1","qos":1,"payload":{"celsius":20}}',
  '{"time":"2026-05-01T10:00:01.5Z","topic":"lab/2","payload":"hello","retain":true}',
].join('\n');

/** Some twenty elements are checked, each of them whole. */
const LOOK_MS_MAX = 300_000;

/** Elements that open above the page. */
const OVERLAY = '[role="menu"]:visible, [role="dialog"]:visible';

clientSuite('views full of data', (suite) => {
  /** The problems of each element that was checked. A picture of each is among the artefacts. */
  class Looks {
    readonly client: ClientPage;
    readonly problems: string[] = [];
    readonly #look: Look;

    constructor(client: ClientPage, look: Look) {
      this.client = client;
      this.#look = look;
    }

    async at(what: string): Promise<void> {
      const { colours, width, height } = this.#look;
      for (const [index, colorScheme] of colours.entries()) {
        await this.client.changeColours(colorScheme);
        for (const problem of await this.client.allAccessibilityProblems(index === 0 ? 'all' : 'contrast'))
          this.problems.push(`${what}, ${colorScheme}: ${problem}`);
        if ((await this.client.overflow()) > 0) this.problems.push(`${what}: wider than the window`);
        await this.client.screenshot(`full-${colorScheme}-${width}-${height}-${what}`);
      }
    }

    /** Checks the element that a click opens. Escape closes it. */
    async opened(what: string, name: string | RegExp): Promise<void> {
      const { page } = this.client;
      await page
        .getByRole('button', { name, exact: typeof name === 'string' })
        .first()
        .click();
      await page.locator(OVERLAY).first().waitFor();
      await this.at(what);
      // A field in a dialog may have a list of its own, which the first Escape closes.
      await eventually(async () => {
        await page.keyboard.press('Escape');
        return await page.locator(OVERLAY).count();
      }).toBe(0);
    }
  }

  async function show(client: ClientPage, view: string): Promise<void> {
    await client.page.evaluate(`location.hash = '#/${view}'`);
    await client.page.locator('main h1').waitFor({ state: 'attached' });
  }

  const tell = (topic: string, payload: string | Buffer, options: IClientPublishOptions = {}) =>
    suite.other.publishAsync(topic, payload, { qos: 1, ...options });

  /** A page with messages that were received, published, refused and missed, at the size of `look`. */
  async function openFull(look: Look): Promise<Looks> {
    const { colours, width, height } = look;
    const [colorScheme] = colours;
    const client = await suite.openConnected('messages', { colorScheme });
    const { page } = client;
    await client.subscribe('full/#');
    const seen = { properties: { contentType: 'application/json', userProperties: { origin: 'test' } } };
    for (const [index, celsius] of [20.5, 21, 23.25].entries())
      await tell('full/room/1', JSON.stringify({ celsius, seq: index * 2, tags: ['a', null, true] }), seen);
    await tell('full/room/2', 'kept', { retain: true });
    await tell('full/bytes', Buffer.from([0xa1, 0x61, 0x61, 0x01]));
    await tell('full/\u202Eunseen', 'x');
    await client.publish('full/own', '{"a":1}', 1);
    await client.publish('full/own', '{"a":2}', 0);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await client.connected();
    await page.locator('[data-mark="away"]').waitFor();
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('$SYS/mine');
    await form.locator('label', { hasText: 'QoS 1' }).click();
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
    await form.getByText(/^Not published: 0x87/).waitFor();
    await tell('full/room/1', JSON.stringify({ celsius: 24, seq: 9 }), seen);
    await client.rows('full/room/1', '"celsius":24,').waitFor();
    await page.setViewportSize({ width, height });
    return new Looks(client, look);
  }

  it.each(LOOKS)(
    'messages, menus, dialogs and all other views satisfy axe in $colours colours at $width × $height',
    async (look) => {
      const looks = await openFull(look);
      await lookAtMessages(looks, look.width < 992);
      await lookAtOtherViews(looks);
      expect(looks.problems).toEqual([]);
    },
    LOOK_MS_MAX,
  );

  async function lookAtMessages(looks: Looks, isPhone: boolean): Promise<void> {
    const { page } = looks.client;
    const part = (name: string) => page.getByRole('radiogroup', { name: 'Part of the view' }).getByText(name);
    await looks.at('messages');
    await looks.client.rows('full/room/1', '"celsius":24,').first().click();
    await page.getByRole('tree', { name: 'Payload' }).waitFor();
    await looks.at('details');
    await page.getByTitle('Chart this number').first().click();
    await page.getByRole('link', { name: 'Open the charts' }).waitFor();
    await looks.at('notice');
    for (const tab of ['Properties', 'Packet']) {
      await page.getByRole('tab', { name: tab }).click();
      await looks.at(`details-${tab}`);
    }
    await page.getByRole('button', { name: 'Close the details' }).click();
    await looks.opened('connection-menu', 'More for this connection');
    await looks.opened('colours', 'Colours');
    if (isPhone) {
      for (const name of ['Subscriptions', 'Publish']) {
        await part(name).click();
        await looks.at(`part-${name}`);
      }
    }
    await page.getByRole('button', { name: 'Properties', exact: true }).click();
    await page.getByLabel('Content type').waitFor();
    await looks.at('publish-properties');
    await looks.opened('history', 'History');
    if (isPhone) await part('Subscriptions').click();
    await looks.opened('subscription', 'Edit full/#');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('dialog', { name: 'Commands' }).getByRole('option').first().waitFor();
    await looks.at('palette');
    await page.keyboard.press('Escape');
    if (isPhone) await part('Messages').click();
  }

  async function lookAtOtherViews(looks: Looks): Promise<void> {
    const { client } = looks;
    const { page } = client;
    // The first number has had a chart since its notice was checked.
    await client.rows('full/room/1', '"celsius":24,').first().click();
    await page.getByRole('treeitem').filter({ hasText: 'seq:' }).getByTitle('Chart this number').click();
    await page.getByRole('button', { name: 'Close the details' }).click();
    await show(client, 'charts');
    await page.getByRole('img', { name: /^Chart of 2 series/ }).waitFor();
    await looks.at('charts');
    await looks.opened('charts-add', 'Add a series');
    await show(client, 'tree');
    await page.getByRole('button', { name: 'Open all' }).click();
    await page.getByRole('treeitem').filter({ hasText: '1' }).last().waitFor();
    await looks.at('tree');
    await page.getByRole('treeitem').filter({ hasText: 'own' }).click();
    await page.getByRole('heading', { name: 'full/own' }).waitFor();
    await looks.at('tree-details');
    await looks.opened('tree-menu', 'More');
    await show(client, 'wire');
    await page
      .getByRole('grid', { name: 'What went over the wire, newest first' })
      .locator('[aria-selected]')
      .first()
      .click();
    await looks.at('wire');
    await page.keyboard.press('Escape');
    await show(client, 'start');
    await looks.at('start');
    for (const [entry, what] of [
      ['Edit …', 'connection'],
      ['Export …', 'export'],
      ['Import …', 'import'],
    ] as const) {
      await page.keyboard.press('Escape');
      await eventually(() => page.getByRole('dialog').count()).toBe(0);
      await client.chooseFromMenu(entry);
      await page.getByRole('dialog').waitFor();
      await looks.at(what);
    }
    await page
      .locator('input[type="file"]')
      .first()
      .setInputFiles({ name: 'lab.jsonl', mimeType: 'text/plain', buffer: Buffer.from(RECORDING) });
    await page.getByRole('button', { name: 'Open to read' }).waitFor();
    await looks.at('import-found');
    await page.getByRole('button', { name: 'Open to read' }).click();
    await client.rows('lab/1').waitFor();
    await looks.at('recording');
  }

  it.each(LOOKS)(
    'the admin view and the wire satisfy axe in $colours colours at $width × $height',
    async (look) => {
      const { colours, width, height } = look;
      const [colorScheme] = colours;
      const sensor = await connectAsync(suite.served.nodeUrl, {
        protocolVersion: 5,
        clientId: `full sensor ${ROOT}`,
        reconnectPeriod: 0,
      });
      onTestFinished(() => sensor.endAsync(true));
      await sensor.subscribeAsync('full/#', { qos: 1 });
      await tell('full/kept', 'kept', { retain: true });
      const ban = { as: 'clientid', who: 'full banned', reason: 'of the test' };
      await fetch(new URL('/api/v5/banned', suite.served.pageUrl), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ban),
      });
      const client = await suite.openConnected('wire', { colorScheme });
      const { page } = client;
      await client.connectToGateway();
      await page
        .getByRole('grid', { name: 'What went over the wire, newest first' })
        .locator('[aria-selected]')
        .first()
        .click();
      await page.setViewportSize({ width, height });
      const looks = new Looks(client, look);
      await looks.at('wire-gateway');
      await page.keyboard.press('Escape');
      await show(client, 'admin');
      const row = page.getByRole('row').filter({ hasText: 'full sensor' });
      await row.waitFor();
      await looks.at('admin-clients');
      await looks.opened('admin-client', `full sensor ${ROOT}`);
      await looks.opened('admin-disconnect', `Disconnect full sensor ${ROOT}`);
      for (const [tab, text] of [
        ['Price', 'Apus, gateway door'],
        ['Subscriptions', 'full/#'],
        ['Retained messages', 'full/kept'],
        ['Bans', 'full banned'],
      ] as const) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('row').filter({ hasText: text }).first().waitFor();
        await looks.at(`admin-${tab}`);
      }
      await looks.opened('admin-ban', 'Ban …');
      expect(looks.problems).toEqual([]);
    },
    LOOK_MS_MAX,
  );
});
