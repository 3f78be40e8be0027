import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import { EXAMPLE_FLAGS, portalUrl } from './support/portal-page.ts';
import type { Served } from './support/served-client.ts';

const MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const LINKS =
  '[a](javascript:window.hacked=1) <a href="javascript:window.hacked=1">b</a> javascript:window.hacked=1 data:text/html,x';
const SCHEMA_BYTES = 64 * 1024;

/** A schema with 64 KiB of fields. Each field refers to all of them again. */
function largeSchema(): object {
  const properties: Record<string, object> = {};
  for (let index = 0; JSON.stringify(properties).length < SCHEMA_BYTES; index++)
    properties[`field${index}-${MARKUP}`] = { $ref: '#/$defs/all', description: MARKUP };
  return {
    $ref: '#/$defs/all',
    $defs: { all: { type: 'object', description: LINKS, properties, enum: [MARKUP] } },
  };
}

const CHANNELS = 100;

function hostileDocument(): object {
  const schema = largeSchema();
  const channel = (index: number) => ({
    address: `${MARKUP.replaceAll('/', ' ')}/${index}/{sensor}`,
    title: `${MARKUP} ${index}`,
    description: `${LINKS}\n\nhttps://good.example/page. ${MARKUP}`,
    parameters: { sensor: { description: MARKUP, examples: [MARKUP] } },
    messages: {
      message: {
        contentType: MARKUP,
        payload: schema,
        examples: [{ name: MARKUP, payload: { html: MARKUP } }],
      },
    },
    'x-apus-stream': { name: MARKUP, topicFilter: MARKUP, keepSeconds: 1e300, messagesMax: -1 },
  });
  return {
    asyncapi: '3.0.0',
    info: { title: MARKUP, version: MARKUP, description: LINKS, 'x-apus-token': LINKS },
    servers: { [MARKUP]: { protocol: 'ws', host: '127.0.0.1:1', pathname: `/${MARKUP}` } },
    channels: Object.fromEntries([...Array(CHANNELS).keys()].map((index) => [`c${index}`, channel(index)])),
    operations: { publish: { action: 'receive', summary: LINKS, channel: { $ref: '#/channels/c7' } } },
  };
}

clientSuite('a document of a stranger on the page for developers', (suite) => {
  let served: Served;

  beforeAll(async () => {
    served = await suite.built.serve(EXAMPLE_FLAGS);
  });
  afterAll(() => served?.stop());

  async function openWith(document: object | string) {
    const context = await suite.newContext();
    await context.route('**/asyncapi.json', (route) =>
      route.fulfill({
        contentType: 'application/json',
        body: typeof document === 'string' ? document : JSON.stringify(document),
      }),
    );
    return await suite.openUrl(portalUrl(served.pageUrl), { context });
  }

  /** The page shows all of it as text. */
  async function expectOnlyText(page: Page): Promise<void> {
    await eventually(() => page.evaluate('window.hacked')).toBeUndefined();
    await eventually(() =>
      page.locator('img, main script, iframe, object, embed, svg:not(header svg)').count(),
    ).toBe(0);
    const links = (await page.evaluate('[...document.links].map(({ href }) => href)')) as string[];
    const origin = new URL(page.url()).origin;
    for (const link of links)
      expect(link.startsWith(origin) || link === 'https://good.example/page', link).toBe(true);
  }

  const elements = async (page: Page) =>
    (await page.evaluate('document.querySelectorAll("*").length')) as number;

  it('with markup, script links and 100 topics with 64 KiB of recursive schema each shows text and stays small', async () => {
    const { page } = await openWith(hostileDocument());
    await page.getByText('100 topics').waitFor();
    await expectOnlyText(page);
    await page.getByLabel('Search topics').fill('onerror 77');
    await page.getByText('1 topic', { exact: true }).waitFor();
    await page.getByRole('navigation').getByRole('link').click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: '77' }).waitFor();
    await page.getByRole('button', { name: /^\d+ more$/ }).waitFor();
    expect(await elements(page)).toBeLessThan(2_000);
    // Each level contains all fields again.
    for (let level = 0; level < 5; level++) {
      await page
        .locator('.schema summary')
        .nth(level + 1)
        .click();
      await eventually(() => page.locator('.schema details[open]').count()).toBe(level + 2);
    }
    expect(await elements(page)).toBeLessThan(4_000);
    for (const language of ['React', 'Python', 'Command line']) await page.getByLabel(language).check();
    await expectOnlyText(page);
  });

  it.each([
    ['', 'no AsyncAPI 3 document'],
    ['[]', 'no AsyncAPI 3 document'],
    ['{"asyncapi":"3.0.0"}', 'describes no topic'],
    ['['.repeat(200_000), 'no AsyncAPI 3 document'],
    [' '.repeat(17 * 1024 * 1024), 'larger than this page reads'],
  ])('that is none (%#) is said to be none', async (document, words) => {
    const { page } = await openWith(document);
    await page.getByText(words).waitFor();
  });

  it('shows no topic for a malformed address', async () => {
    const client = await suite.openUrl(`${portalUrl(served.pageUrl)}%00%zz<b>/${encodeURIComponent(MARKUP)}`);
    await client.page.getByText('describes no topic').waitFor();
    await expectOnlyText(client.page);
  });
});
