import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PATIENCE_MS } from './limits.ts';

/** The most pages that a test needs at a time. */
const IDLE_MAX = 3;

/** Any page of the origin that runs no script. */
const SILENT = 'healthz';

/** As in the browser of a user who has opened the panel to publish, which nearly all tests use. */
export async function unfoldPublish(context: BrowserContext): Promise<void> {
  await context.addInitScript(`try {
    if (localStorage.getItem('apus.layout') === null)
      localStorage.setItem('apus.layout', '{"isPublishFolded":false}');
  } catch {}`);
}

/**
 * Pages of one origin, each with storage of its own. A test gets a page with empty storage. Afterwards the page is
 * emptied and given to the next test: this takes half as long as a new page, whose process has not read the client's
 * scripts.
 */
export class Pages {
  readonly #browser: Browser;
  readonly #origin: string;
  readonly #idle: Page[] = [];
  readonly #ours = new Set<Page>();

  constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#origin = new URL(url).origin;
  }

  async take(): Promise<Page> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const context = await this.#browser.newContext();
    await unfoldPublish(context);
    const page = await context.newPage();
    this.#ours.add(page);
    return page;
  }

  /** Includes a page of a test's own context, which the test closes. */
  async giveBack(page: Page): Promise<void> {
    if (!this.#ours.has(page)) return await page.close();
    const isReusable = this.#idle.length < IDLE_MAX && new URL(page.url()).origin === this.#origin;
    if (isReusable && (await this.#empty(page))) this.#idle.push(page);
    else await this.#end(page);
  }

  async #end(page: Page): Promise<void> {
    this.#ours.delete(page);
    await page.context().close();
  }

  /** Returns whether the page is clean: nothing of the test is left. */
  async #empty(page: Page): Promise<boolean> {
    const context = page.context();
    if (context.pages().length > 1) return false;
    page.removeAllListeners();
    // A page with unsaved input asks its user before it is left.
    page.on('dialog', (dialog) => void dialog.accept());
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.mouse.move(0, 0);
    const response = await page.goto(new URL(SILENT, this.#origin).href, { timeout: PATIENCE_MS });
    if (response?.ok() !== true) return false;
    await page.evaluate("sessionStorage.clear(); window.name = ''");
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin: this.#origin, storageTypes: 'all' });
    await session.detach();
    page.removeAllListeners();
    return true;
  }
}
