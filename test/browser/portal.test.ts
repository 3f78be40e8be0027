import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { connectAsync, type IClientOptions } from 'mqtt';
import type { Page } from 'playwright-core';
import { preview } from 'vite';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import { codeOf, EXAMPLE_FLAGS, portalUrl } from './support/portal-page.ts';
import type { Served } from './support/served-client.ts';

/** All files that the page fetches, each compressed with gzip. */
const PORTAL_WEIGHT_BYTES_MAX = 90 * 1024;

const TEMPERATURE = 'sensors/{sensor}/temperature';
const SECRET = 'a secret of at least thirty-two bytes';

async function tokenFor(publish: string, tenant = 'default'): Promise<string> {
  return await new SignJWT({ sub: 'ann', tenant, publish: [publish], subscribe: ['sensors/#'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
}

async function publish(url: string, payload: string, credentials: IClientOptions = {}): Promise<void> {
  const client = await connectAsync(url, { ...credentials, protocolVersion: 5 });
  await client.publishAsync('sensors/s-1/temperature', payload, { qos: 1 });
  await client.endAsync();
}

clientSuite('the page for developers', (suite) => {
  let folder: string;
  let open: Served;
  let guarded: Served;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'apus-portal-'));
    const identity = join(folder, 'identity.json');
    await writeFile(identity, JSON.stringify({ authenticators: [{ jwt: { secret: SECRET } }] }));
    open = await suite.built.serve(EXAMPLE_FLAGS);
    guarded = await suite.built.serve([...EXAMPLE_FLAGS, '--identity', identity]);
  });

  afterAll(async () => {
    await open?.stop();
    await guarded?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('asks a visitor for a token where the document is refused, and shows the broker’s refusal of the token', async () => {
    const client = await suite.openUrl(portalUrl(guarded.pageUrl, TEMPERATURE));
    const { page } = client;
    await page.getByRole('heading', { name: 'Your credentials' }).waitFor();
    await page.getByRole('heading', { name: 'How to get a token' }).waitFor();
    await page.getByText('Ask plant-it@example.com').waitFor();
    expect(await client.allAccessibilityProblems()).toEqual([]);
    await client.screenshot('portal-token');
    const show = page.getByRole('button', { name: 'Show the topics' });
    await page.getByLabel('Token or password').fill('wrong');
    await show.click();
    await page.getByText('The broker does not take this token.').waitFor();
    await page.getByLabel('Token or password').fill(await tokenFor('sensors/s-1/temperature'));
    await show.click();
    await page.getByRole('heading', { level: 1, name: 'Temperature' }).waitFor();
    // The browser itself logs a line for each 401.
    expect(client.complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);

    const saved = await client.download(page.getByRole('link', { name: 'The AsyncAPI document' }));
    expect(JSON.parse(String(saved.bytes))).toMatchObject({
      asyncapi: '3.0.0',
      info: { title: 'The plant' },
    });

    expect(await client.stored()).not.toContain('eyJ');
    await client.screenshot('portal-with-token');
  });

  it('shows a visitor of one tenant no example of another tenant [SEC-TENANT-2]', async () => {
    const visit = async (tenant: string): Promise<Page> => {
      const context = await suite.newContext();
      const client = await suite.openUrl(portalUrl(guarded.pageUrl, TEMPERATURE), { context });
      await client.page.getByLabel('Token or password').fill(await tokenFor('sensors/#', tenant));
      await client.page.getByRole('button', { name: 'Show the topics' }).click();
      await client.page.getByRole('heading', { level: 1, name: 'Temperature' }).waitFor();
      client.complaints.length = 0;
      return client.page;
    };
    for (const [tenant, payload] of [
      ['acme', '{"celsius":42.5}'],
      ['other', '{"celsius":-7.25}'],
    ] as const)
      await publish(guarded.nodeUrl, payload, {
        username: 'u',
        password: await tokenFor('sensors/#', tenant),
      });
    for (const [tenant, celsius] of [
      ['acme', '42.5'],
      ['other', '-7.25'],
    ] as const) {
      const newest = codeOf(await visit(tenant), 'The newest that has come.');
      await newest.getByText(celsius).waitFor();
    }
    const third = await visit('third');
    await eventually(() => codeOf(third, 'The newest that has come.').count()).toBe(0);
  });

  it('leads to the web client and back, in the colours that its visitor has chosen there', async () => {
    const client = await suite.openUrl(`${open.pageUrl}#/messages`, { context: await suite.newContext() });
    const { page } = client;
    await page.getByRole('button', { name: 'Colours' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.getByRole('link', { name: 'Topics, described' }).click();
    await page.getByRole('heading', { level: 1, name: 'The plant' }).waitFor();
    const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
    await eventually(scheme).toBe('dark');
    await client.screenshot('portal-dark');
    await page.getByRole('link', { name: 'Apus' }).click();
    await page.getByRole('grid', { name: 'Messages, newest first' }).waitFor();
  });

  it('shows fields with their types and constraints, and the newest payload', async () => {
    await publish(open.nodeUrl, '{"celsius":21.5}');
    const { page } = await suite.openUrl(portalUrl(open.pageUrl, TEMPERATURE));
    await codeOf(page, 'The newest that has come.').getByText('"celsius"').waitFor();
    const fields = page.locator('.schema li');
    await eventually(() => fields.allTextContents()).toEqual([
      'celsiusrequirednumberat least -273.15Degrees Celsius',
      'atstringWhen it was measured, as RFC 3339 has it',
      'qualityvalueone of "good", "doubtful"',
    ]);
    await page.getByText('for 1 day, at most 1000 of each topic').waitFor();
  });

  it('finds topics by words and by stream, with a link for each, by keyboard alone', async () => {
    const { page } = await suite.openUrl(portalUrl(open.pageUrl));
    await page.getByRole('heading', { level: 1, name: 'The plant' }).waitFor();
    const list = page.getByRole('navigation', { name: 'Topics' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByLabel('Search topics').focus();
    await page.keyboard.type('control room');
    await list.getByText('1 topic', { exact: true }).waitFor();
    for (let presses = 0; presses < 2; presses++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Pictures' }).waitFor();
    expect(page.url()).toBe(portalUrl(open.pageUrl, 'cameras/{camera}'));
    await eventually(() => page.title()).toBe('Pictures – The plant');
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'The plant' }).waitFor();
    await page.getByLabel('Search topics').fill('');
    await page.getByLabel('Stream').selectOption('measurements');
    await eventually(() => list.getByRole('link').count()).toBe(1);
  });

  it('copies a text, and says that it has', async () => {
    const context = await suite.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { page } = await suite.openUrl(portalUrl(open.pageUrl, TEMPERATURE), { context });
    await page.getByRole('button', { name: 'Copy receive.mjs' }).click();
    await page.getByRole('figure', { name: 'receive.mjs' }).getByText('Copied').waitFor();
    const shown = await codeOf(page, 'receive.mjs').textContent();
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(shown);
  });

  it.each([
    ['', 1280],
    ['', 360],
    [TEMPERATURE, 1280],
    [TEMPERATURE, 360],
    ['cameras/{camera}', 360],
  ])('can be used by everybody: %s at %i px', async (topic, width) => {
    const client = await suite.openUrl(portalUrl(open.pageUrl, topic), { width });
    const { page } = client;
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await client.allAccessibilityProblems(), colorScheme).toEqual([]);
      await client.screenshot(`portal-${topic}-${width}-${colorScheme}`);
    }
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    await eventually(() => client.clippedLabels()).toEqual([]);
  });

  it('is written for any web host, with its document', async () => {
    const topics = {
      servers: [{ name: 'plant', url: open.nodeUrl, door: 'node' }],
      topics: [{ topic: 'news' }],
    };
    const [file, out] = [join(folder, 'topics.json'), join(folder, 'site')];
    await writeFile(file, JSON.stringify(topics));
    const command = join(suite.built.directory, 'apus.js');
    await promisify(execFile)(process.execPath, [command, 'topics', 'page', file, '--out', out]);
    const common = { root: out, base: '/dev/', configFile: false, logLevel: 'error' } as const;
    const site = await preview({
      ...common,
      build: { outDir: out },
      preview: { host: '127.0.0.1', port: 0 },
    });
    onTestFinished(() => site.close());
    const { page } = await suite.openUrl(`${site.resolvedUrls?.local[0]}#/news`);
    await page.getByRole('heading', { level: 1, name: 'news' }).waitFor();
    await eventually(() => page.locator('meta[http-equiv="Content-Security-Policy"]').count()).toBe(1);
  });

  it('is small', async () => {
    const context = await suite.newContext();
    const paths = new Set<string>();
    context.on('request', (request) => paths.add(new URL(request.url()).pathname));
    const { page } = await suite.openUrl(portalUrl(open.pageUrl, TEMPERATURE), { context });
    await page.getByRole('heading', { name: 'Programs' }).waitFor();
    expect(await weightOf([...paths])).toBeLessThanOrEqual(PORTAL_WEIGHT_BYTES_MAX);
  });

  async function weightOf(paths: readonly string[]): Promise<number> {
    const sizes = paths.map(async (path) => {
      const response = await fetch(new URL(path, open.pageUrl));
      return gzipSync(new Uint8Array(await response.arrayBuffer())).length;
    });
    return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
  }
});
