import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { gate } from '../support/gate.ts';
import type { ClientPage, PageOptions } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** Hinted letters of a system have widths of whole pixels, which add up beside a row of words. */
const SHIFT_PX_MAX = { x: 20, y: 1 };

interface Place {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** The middle of everything that can be pressed. */
async function controlsOf(page: Page): Promise<readonly Place[]> {
  return await page.evaluate(`[...document.querySelectorAll('button, a, input, label')].map((control) => {
    const { x, y, width, height } = control.getBoundingClientRect();
    return { name: control.ariaLabel ?? control.textContent, x: x + width / 2, y: y + height / 2 };
  })`);
}

function isMoved(before: Place, after: Place): boolean {
  return Math.abs(before.x - after.x) > SHIFT_PX_MAX.x || Math.abs(before.y - after.y) > SHIFT_PX_MAX.y;
}

clientSuite('the layout of the web client', (suite) => {
  const open = (options: PageOptions = {}): Promise<ClientPage> => suite.openConnected('messages', options);

  const publishForm = (client: ClientPage) => client.page.getByRole('form', { name: 'Publish' });

  it('begins with the messages and the publish panel as a bar, and remembers it open and folded', async () => {
    const client = await open({ context: await suite.newContext({ isNew: true }) });
    const { page } = client;
    const bar = page.getByRole('button', { name: 'Publish a message' });
    await bar.waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('layout-folded-light');
    await bar.click();
    const topic = publishForm(client).getByLabel('Topic', { exact: true });
    await eventually(() => topic.and(page.locator(':focus')).count()).toBe(1);
    await page.reload();
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    await eventually(() => publishForm(client).count()).toBe(0);
    await page.reload();
    await bar.waitFor();
    await eventually(() => publishForm(client).count()).toBe(0);
  });

  it('gives the payload the width, in the list and beside it', async () => {
    const client = await open({
      width: 1_366,
      height: 768,
      context: await suite.newContext({ isNew: true }),
    });
    const { page } = client;
    await client.subscribe('wide/#');
    await suite.other.publishAsync('wide/here', JSON.stringify({ text: 'x'.repeat(200) }));
    const width = async (part: Locator): Promise<number> => (await part.boundingBox())?.width ?? 0;
    const payload = client.rows('wide/here').locator('[data-column="payload"]');
    await eventually(() => width(payload)).toBeGreaterThan(250);
    await client.rows('wide/here').click();
    await eventually(() => width(page.getByRole('tree', { name: 'Payload' }))).toBeGreaterThan(400);
    await eventually(() => width(payload)).toBeGreaterThan(300);
  });

  it.each([1_366, 1_200, 800, 390, 320])(
    'shows the whole hint of every field that searches, %i px wide',
    async (width) => {
      const client = await open({ width });
      const cutHints = () =>
        client.page.evaluate(`[...document.querySelectorAll('[role="search"] input:not([readonly])')].filter((input) => {
            const style = getComputedStyle(input);
            const pen = document.createElement('canvas').getContext('2d');
            pen.font = style.font;
            const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            return pen.measureText(input.placeholder).width > room;
          }).map(({ placeholder }) => placeholder)`);
      await eventually(cutHints).toEqual([]);
    },
  );

  it('at 400 % the page scrolls, and the list and the details have height', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('zoomed/#');
    await suite.other.publishAsync('zoomed/here', '{"a":1,"b":2,"c":3}');
    await client.rows('zoomed/here').waitFor();
    await page.setViewportSize({ width: 320, height: 256 });
    const height = async (part: Locator): Promise<number> => (await part.boundingBox())?.height ?? 0;
    await eventually(() => height(page.getByRole('grid'))).toBeGreaterThan(150);
    await page.getByRole('grid').hover();
    await page.mouse.wheel(0, 1_000);
    await eventually(() => page.evaluate('scrollY')).toBeGreaterThan(100);
    await eventually(() => client.overflow()).toBe(0);
    await client.rows('zoomed/here').click();
    await eventually(() => height(page.getByRole('tree', { name: 'Payload' }))).toBeGreaterThan(100);
  });

  it('opens the folded panel for the key P, and for a message to be published again', async () => {
    const client = await open();
    const { page } = client;
    await client.subscribe('fold/#');
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    await page.getByRole('grid').focus();
    const topic = publishForm(client).getByLabel('Topic', { exact: true });
    await page.keyboard.press('p');
    await eventually(() => topic.and(page.locator(':focus')).count()).toBe(1);
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    await suite.other.publishAsync('fold/again', 'x');
    await client.rows('fold/again').click();
    await page.getByRole('button', { name: 'Put it into the publish panel' }).click();
    await eventually(() => topic.inputValue()).toBe('fold/again');
  });

  it.each([1_280, 1_440])(
    'moves nothing from under the pointer when its fonts arrive, %i px wide',
    async (width) => {
      const client = await open({ width });
      const { page } = client;
      const fonts = gate();
      let requested = 0;
      await page.route('**/*.woff2', async (route) => {
        requested += 1;
        await fonts.opened;
        await route.continue();
      });
      await client.subscribe('fonts/#');
      // The page fetches them behind its first message.
      await suite.other.publishAsync('fonts/first', 'x');
      // Until it comes, the empty list has a button.
      await client.rows('fonts/first').waitFor();
      await eventually(() => requested).toBeGreaterThan(0);
      const before = await controlsOf(page);
      fonts.open();
      await eventually(() => page.evaluate(`document.fonts.check('14px "Inter Variable"')`)).toBe(true);
      const after = await controlsOf(page);
      expect(before.length).toBeGreaterThan(30);
      expect(after.length).toBe(before.length);
      const moved = before.filter((control, index) => isMoved(control, after[index] ?? control));
      expect(moved).toEqual([]);
    },
  );

  it.each([
    [1_100, 'below'],
    [1_280, 'beside'],
  ])('at %i px the details stand %s the list', async (width, place) => {
    const client = await open({ width });
    await client.subscribe('details/#');
    await suite.other.publishAsync('details/here', '{"a":1}');
    await client.rows('details/here').click();
    const grid = await client.page.getByRole('grid').boundingBox();
    const details = await client.page.getByRole('complementary').boundingBox();
    if (grid === null || details === null) throw new Error('the list and the details are both shown');
    if (place === 'below') expect(details.y).toBeGreaterThanOrEqual(grid.y + grid.height);
    else expect(details.x).toBeGreaterThanOrEqual(grid.x + grid.width);
    expect(details.width).toBeGreaterThan(340);
    await client.screenshot(`layout-details-${place}`);
  });

  it('resizes panes by key, and says what was done in a place where it covers nothing', async () => {
    const client = await open({ context: await suite.newContext() });
    const { page } = client;
    for (const [name, key, region] of [
      ['Width of the subscriptions', 'ArrowRight', page.getByRole('region', { name: 'Subscriptions' })],
      ['Height of the publish panel', 'ArrowUp', publishForm(client)],
    ] as const) {
      const line = page.getByRole('separator', { name });
      const size = async (): Promise<number> => {
        const box = await region.boundingBox();
        return key === 'ArrowUp' ? (box?.height ?? 0) : (box?.width ?? 0);
      };
      const [before, value] = [await size(), Number(await line.getAttribute('aria-valuenow'))];
      await line.press(key);
      await eventually(size).toBeGreaterThan(before);
      await eventually(async () => Number(await line.getAttribute('aria-valuenow'))).not.toBe(value);
    }
    await client.subscribe('notice/#');
    await suite.other.publishAsync('notice/here', '{"a":1}');
    await client.rows('notice/here').click();
    await page.getByTitle('Chart this number').click();
    const link = page.getByRole('link', { name: 'Open the charts' });
    await link.waitFor();
    const notice = await link.boundingBox();
    const panel = await publishForm(client).boundingBox();
    if (notice === null || panel === null) throw new Error('both are shown');
    expect(notice.y).toBeGreaterThanOrEqual(panel.y + panel.height);
  });

  it('finds and runs every command by key', async () => {
    const client = await open();
    const { page } = client;
    await page.getByRole('grid').focus();
    const palette = page.getByRole('dialog', { name: 'Commands' });
    // Keys that are pressed before the field has the focus go to the page.
    const openPalette = async () => {
      await page.keyboard.press('ControlOrMeta+k');
      await eventually(() => palette.locator('input:focus').count()).toBe(1);
    };
    await openPalette();
    await palette.getByRole('option', { name: 'Charts' }).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('palette-light');
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('grid').and(page.locator(':focus')).count()).toBe(1);
    await openPalette();
    await page.keyboard.type('wire view');
    await page.keyboard.press('Enter');
    await page.getByRole('grid', { name: 'What went over the wire, newest first' }).waitFor();
    // A command of another view opens that view and moves the focus there.
    await openPalette();
    await page.keyboard.type('write a mess');
    await page.keyboard.press('Enter');
    const topic = publishForm(client).getByLabel('Topic', { exact: true });
    await eventually(() => topic.and(page.locator(':focus')).count()).toBe(1);
    // The key works in a text field, too.
    await openPalette();
    await page.keyboard.type('disconnect this');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('banner').getByRole('button', { name: 'Connect', exact: true }).waitFor();
  });

  it('asks a new connection for URL, token, user and password, and connects', async () => {
    const client = await open();
    const { page } = client;
    await page.getByRole('button', { name: 'New connection', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New connection' });
    await eventually(() => dialog.getByRole('textbox').count()).toBe(4);
    await dialog.getByLabel('URL').fill(suite.served.nodeUrl);
    await dialog.getByLabel('User name').fill('ada');
    await dialog.getByLabel('Password', { exact: true }).fill('secret');
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('new-connection-light');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await client.connected();
    await page.getByRole('banner').getByText(new URL(suite.served.nodeUrl).host, { exact: true }).waitFor();
    expect(await client.stored()).not.toContain('"password":"secret"');
  });

  it('offers the address that is probably meant, for an address that a browser cannot open', async () => {
    const client = await open();
    const { page } = client;
    await page.getByRole('button', { name: 'New connection', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New connection' });
    const url = dialog.getByLabel('URL');
    await url.fill('mqtt://broker.example:1883');
    await dialog.getByText(/^A browser cannot open mqtt:\/\//).waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('url-help-light');
    await dialog.getByRole('button', { name: 'Use ws://broker.example:8083/mqtt' }).click();
    await eventually(() => url.inputValue()).toBe('ws://broker.example:8083/mqtt');
    const { host } = new URL(suite.served.nodeUrl);
    await url.fill(host);
    await dialog.getByRole('button', { name: `Use ${suite.served.nodeUrl}` }).click();
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await client.connected();
    await page.getByRole('banner').getByText(host, { exact: true }).waitFor();
  });

  it('takes the entered values along to the full editor, and adds nothing when it is left', async () => {
    const client = await open();
    const { page } = client;
    const add = page.getByRole('button', { name: 'New connection', exact: true });
    const dialog = page.getByRole('dialog', { name: 'New connection' });
    await add.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => dialog.count()).toBe(0);
    await add.click();
    await dialog.getByLabel('URL').fill(suite.served.nodeUrl);
    await dialog.getByLabel('User name').fill('grace');
    await dialog.getByRole('button', { name: 'More …' }).click();
    await eventually(() => page.getByLabel('User name').inputValue()).toBe('grace');
    await eventually(() => page.getByLabel('URL').inputValue()).toBe(suite.served.nodeUrl);
    const host = new URL(suite.served.nodeUrl).host;
    await eventually(() => page.getByRole('navigation').getByText(host, { exact: true }).count()).toBe(1);
  });

  it('satisfies axe folded and side by side in light and in dark colours', async () => {
    const client = await open({
      width: 1_200,
      height: 800,
      context: await suite.newContext(),
    });
    const { page } = client;
    await client.subscribe('axe/#');
    await suite.other.publishAsync('axe/here', '{"value":1}', { qos: 1 });
    await client.rows('axe/here').click();
    await page.getByRole('button', { name: 'Fold the publish panel' }).click();
    expect(await client.accessibilityProblemsInBothColours('layout-beside')).toEqual([]);
  });

  it('cuts a long name of a connection in the navigation, without a scrollbar', async () => {
    const client = await suite.openConnected('messages');
    await client.newConnection('A connection with a name of many words', suite.served.nodeUrl);
    await client.page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
    const cutOff = () =>
      client.page
        .getByRole('navigation')
        .locator('.mantine-ScrollArea-viewport')
        .evaluateAll((areas) => areas.map((area) => area.scrollWidth - area.clientWidth));
    await eventually(cutOff).toEqual([0, 0]);
  });

  it('covers no column of a table on a phone, and breaks topics between their levels', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('home/kitchen/#');
    await suite.other.publishAsync('home/kitchen/oven', '{"celsius":20}', { qos: 1 });
    await client.rows('home/kitchen/oven').first().click();
    await page.getByTitle('Chart this number').first().click();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate("location.hash = '#/charts'");
    await eventually(() => lines(page.getByRole('rowheader').getByText('$.celsius'))).toBe(1);
    await page.evaluate("location.hash = '#/admin'");
    const button = page.getByRole('button', { name: /^Disconnect / }).first();
    const address = page.getByRole('cell', { name: '127.0.0.1' }).first();
    await button.waitFor({ state: 'attached' });
    await eventually(async () => {
      const [left, right] = [await address.boundingBox(), await button.boundingBox()];
      return (left?.x ?? 0) + (left?.width ?? 0) <= (right?.x ?? 0);
    }).toBe(true);
  });
});

/** The lines into which a text is broken. */
async function lines(text: Locator): Promise<number> {
  return await text.evaluate((element) => element.getClientRects().length);
}
