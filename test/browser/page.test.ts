import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningNode, startNode } from '@apus/node';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, whyNoBrowser } from './chromium.ts';

const build = fileURLToPath(new URL('../../packages/node/build.mjs', import.meta.url));
const skipped = whyNoBrowser();

describe.skipIf(skipped !== undefined)('the page of the node door, in Chromium', () => {
  let node: RunningNode;
  let browser: Browser;
  /** What the browser complained about: scripts that failed, and what the Content Security Policy forbade. */
  const complaints: string[] = [];

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [build]);
    node = await startNode({ port: 0 });
    browser = await launchChromium();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await node?.stop();
  });

  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  async function open(): Promise<Page> {
    const page = await browser.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(node.httpUrl);
    await page.getByText(`connected: ${node.url}`).waitFor();
    await page.getByText('hello/# at QoS 1').waitFor();
    return page;
  }

  it('opens connected and subscribed, and shows in one window what another publishes', async () => {
    const [one, other] = [await open(), await open()];
    await one.getByLabel('Payload').fill('from one to the other');
    await one.getByRole('button', { name: 'Publish' }).click();
    await other.getByText('from one to the other').waitFor();
    expect(await other.locator('#messages li').count()).toBe(1);
    await one.close();
    await other.close();
  });

  it('can be used by keyboard alone', async () => {
    const page = await open();
    await page.getByLabel('Topic', { exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('hello/keyboard');
    await page.keyboard.press('Enter');
    await page.locator('#messages .topic', { hasText: 'hello/keyboard' }).waitFor();
    await page.close();
  });

  it('shows payloads as text, whatever they hold', async () => {
    const page = await open();
    await page.getByLabel('Payload').fill('<img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('<img src=x onerror=alert(1)>', { exact: true }).waitFor();
    expect(await page.locator('#messages img').count()).toBe(0);
    await page.close();
  });

  it('no longer shows what it has unsubscribed from', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Unsubscribe from hello/#' }).click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('published to hello/browser').waitFor();
    expect(await page.locator('#messages li').count()).toBe(0);
    await page.close();
  });

  it('fits a phone without scrolling sideways', async () => {
    const page = await open();
    await page.setViewportSize({ width: 360, height: 700 });
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await page.close();
  });
});
