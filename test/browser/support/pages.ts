import type { Browser, Page } from 'playwright-core';
import { PATIENCE_MS } from './limits.ts';

/** No test needs more at the same time. */
const IDLE_MAX = 3;

/** Any page of the origin that runs no script. */
const SILENT = 'healthz';

/**
 * Pages of one origin, each with a memory of its own. A test gets a page that remembers nothing; afterwards the page is
 * emptied and given to the next test. To empty a page takes half of what a new one takes: its process has read the
 * client's scripts before.
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
    const page = await (await this.#browser.newContext()).newPage();
    this.#ours.add(page);
    return page;
  }

  /** Also a page of a test's own context, which the test closes. */
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

  /** Answers whether nothing is left of what the test did. */
  async #empty(page: Page): Promise<boolean> {
    const context = page.context();
    if (context.pages().length > 1) return false;
    page.removeAllListeners();
    // A page with unfinished work asks whether it may be left.
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
