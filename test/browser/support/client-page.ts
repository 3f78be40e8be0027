import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { eventually } from './eventually.ts';
import { PATIENCE_MS } from './limits.ts';
import { slowDown } from './slowdown.ts';

/** `APUS_SCREENSHOTS=1` keeps pictures of all views. The picture of a page whose test fails is always kept. */
const KEEPS_SCREENSHOTS = process.env.APUS_SCREENSHOTS === '1';

const ARTEFACTS = fileURLToPath(new URL('../../artefacts/web-client/', import.meta.url));

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type Colours = 'light' | 'dark';

/** Axe's rules for a page whose colours alone have changed since it was checked: those of contrast. */
const RULES = {
  all: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  contrast: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
} as const;

export type Rules = keyof typeof RULES;

/** Axe takes a fifth of the time of these tests. Outside of CI it runs only in tests that are about it. */
const LOOKS_IN_PASSING = process.env.CI !== undefined;

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: Colours;
  /** Whether menus and dialogs fade, as they do for most people. Without fading they appear and disappear at once. */
  readonly motion?: boolean;
  /** Pages with the same name share what the browser remembers, as tabs do. */
  readonly context?: Awaited<ReturnType<Browser['newContext']>>;
}

/** The web client in a browser, with methods that are named after the actions of its users. */
export class ClientPage {
  readonly page: Page;
  /** Errors of scripts, and violations of the Content Security Policy. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${message.text()} ${message.location().url}`);
    });
  }

  static async open(page: Page, url: string, options: PageOptions = {}): Promise<ClientPage> {
    const { width = 1440, height = 900, colorScheme = 'light', motion = false } = options;
    const client = new ClientPage(page);
    // Shorter than the limit of a test, so that the error names the element that was not found.
    client.page.setDefaultTimeout(PATIENCE_MS);
    await client.page.emulateMedia({ colorScheme, reducedMotion: motion ? 'no-preference' : 'reduce' });
    await slowDown(client.page);
    await client.page.setViewportSize({ width, height });
    await client.page.goto(url);
    return client;
  }

  /** Waits until the header says so. */
  async connected(): Promise<void> {
    await this.page.getByRole('button', { name: 'Disconnect' }).waitFor();
  }

  /** Shows the connection to the gateway door, which exists from the start, and opens it. */
  async connectToGateway(): Promise<void> {
    await this.page.getByRole('navigation').getByText('This broker, gateway door').click();
    await this.page.getByRole('button', { name: 'Connect', exact: true }).click();
    await this.connected();
  }

  /** Opens the editor for another connection, and fills in the fields that every connection has. */
  async newConnection(name: string, url: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New connection', exact: true }).click();
    const dialog = this.page.getByRole('dialog', { name: 'New connection' });
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByRole('button', { name: 'More …' }).click();
    await this.page.getByLabel('Name', { exact: true }).fill(name);
  }

  /** An entry of the menu of the connection that is shown. */
  async chooseFromMenu(entry: 'Edit …' | 'Import …' | 'Export …' | 'Duplicate' | 'Delete …'): Promise<void> {
    await this.page.getByRole('button', { name: 'More for this connection' }).click();
    await this.page.getByRole('menuitem', { name: entry, exact: true }).click();
  }

  async openView(name: string): Promise<void> {
    await this.page.getByRole('link', { name, exact: true }).click();
    await this.#heading.filter({ hasText: name }).waitFor({ state: 'attached' });
  }

  /** The title of the view, for screen readers. */
  get #heading(): Locator {
    return this.page.locator('main h1');
  }

  /** Waits until the view is complete: its script and any editor in it are loaded. */
  async #viewIsDrawn(): Promise<void> {
    await this.#heading.waitFor({ state: 'attached' });
    await eventually(() => this.page.locator('[role="status"][aria-label="Loading …"]').count()).toBe(0);
  }

  async subscribe(filter: string): Promise<void> {
    await this.page.getByLabel('Topic filter', { exact: true }).fill(filter);
    await this.page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await this.subscription(filter)
      .getByText(/^QoS \d/)
      .waitFor();
  }

  subscription(filter: string): Locator {
    return this.page
      .getByRole('region', { name: 'Subscriptions' })
      .getByRole('listitem')
      .filter({ has: this.page.getByRole('button', { name: `Edit ${filter}`, exact: true }) });
  }

  async publish(topic: string, payload: string, qos: 0 | 1 | 2 = 0, retain = false): Promise<void> {
    const form = this.page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill(topic);
    await form.locator('label', { hasText: `QoS ${qos}` }).click();
    await form.getByLabel('Retain').setChecked(retain);
    await this.fillPayload('Text', payload);
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
    await form
      .getByRole('status')
      .filter({ hasText: /Sent|Acknowledged|Complete/ })
      .waitFor();
  }

  /** Writes a payload of one line. */
  async fillPayload(format: 'Text' | 'Hex', payload: string): Promise<void> {
    const form = this.page.getByRole('form', { name: 'Publish' });
    const editor = form.getByRole('textbox', { name: 'Payload' });
    // Chooses a format. The page converts the payload, or keeps the old format where it cannot.
    await editor.fill('');
    await form.locator('label', { hasText: format }).click();
    // The page makes another editor for another kind of payload, perhaps while the test fills it in.
    await eventually(async () => {
      await editor.fill(payload);
      return await this.payload();
    }).toBe(payload);
  }

  /** The payload in the publish panel, in a plain field or in the code editor. */
  async payload(): Promise<string> {
    const form = this.page.getByRole('form', { name: 'Publish' });
    const field = form.getByRole('textbox', { name: 'Payload' });
    const isPlain = (await form.locator('textarea[aria-label="Payload"]').count()) === 1;
    if (isPlain) return await field.inputValue();
    return (await field.locator('.cm-line').allTextContents()).join('\n');
  }

  /** The rows of the message table that contain all of these texts. */
  rows(...texts: readonly string[]): Locator {
    let rows = this.page.getByRole('grid', { name: 'Messages, newest first' }).locator('[aria-selected]');
    for (const text of texts) rows = rows.filter({ hasText: text });
    return rows;
  }

  /** The topics in the table, from the top. */
  async topics(): Promise<string[]> {
    return await this.rows().locator('[data-column="topic"]').allTextContents();
  }

  /** The file that a click downloads. */
  async download(button: Locator): Promise<{ readonly name: string; readonly bytes: Buffer }> {
    const [saved] = await Promise.all([this.page.waitForEvent('download'), button.click()]);
    return { name: saved.suggestedFilename(), bytes: await readFile(await saved.path()) };
  }

  async screenshot(name: string): Promise<void> {
    if (KEEPS_SCREENSHOTS) await this.takeScreenshot(name);
  }

  async takeScreenshot(name: string): Promise<void> {
    await mkdir(ARTEFACTS, { recursive: true });
    await this.page.screenshot({ path: join(ARTEFACTS, `${name.replaceAll(/[^\w-]+/g, '-')}.png`) });
  }

  /** Axe's violations in a test that is about something else. Outside of CI there are none, as Axe does not run. */
  async accessibilityProblems(): Promise<string[]> {
    if (LOOKS_IN_PASSING) return await this.allAccessibilityProblems();
    await this.#viewIsDrawn();
    return [];
  }

  /**
   * Axe's violations of WCAG 2.2 A and AA, one line for each rule. Waits for violations to pass that animations cause.
   */
  async allAccessibilityProblems(rules: Rules = 'all'): Promise<string[]> {
    // The button that was just pressed may show a tooltip, which lies outside of all landmarks.
    await this.page.mouse.move(0, 0);
    const givesUpAtMs = Date.now() + PATIENCE_MS;
    let problems = await this.#accessibilityProblemsNow(rules);
    // Checks again: a tooltip or menu may be fading out, or React may have rendered only half of a change.
    while (problems.length > 0 && Date.now() < givesUpAtMs)
      problems = await this.#accessibilityProblemsNow(rules);
    return problems;
  }

  /** Axe's violations in light and in dark colours. The name of each picture ends with the colours. */
  async accessibilityProblemsInBothColours(picture: string): Promise<string[]> {
    const problems: string[] = [];
    for (const [colours, rules] of [
      ['light', 'all'],
      ['dark', 'contrast'],
    ] as const) {
      await this.changeColours(colours);
      for (const problem of await this.allAccessibilityProblems(rules))
        problems.push(`${colours}: ${problem}`);
      await this.screenshot(`${picture}-${colours}`);
    }
    return problems;
  }

  /** Changes the colour scheme of the user's system, which the page follows. */
  async changeColours(colorScheme: Colours): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  }

  async #accessibilityProblemsNow(rules: Rules): Promise<string[]> {
    await this.#viewIsDrawn();
    // A dialog that is still fading in has too little contrast. Endless animations are left out.
    await this.page.evaluate(`Promise.allSettled(document.getAnimations()
      .filter(({ effect, playState }) => playState === 'running' && effect.getComputedTiming().iterations !== Infinity)
      .map(({ finished }) => finished)).then(() => undefined)`);
    if (!(await this.page.evaluate("'axe' in window"))) await this.page.evaluate(AXE);
    return (await this.page.evaluate(`
      axe.run(document, {
        runOnly: ${JSON.stringify(RULES[rules])},
        resultTypes: ['violations'],
      }).then(({ violations }) => violations.map(
        ({ id, help, nodes }) => id + ': ' + help + ' ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | '),
      ))
    `)) as string[];
  }

  /** Everything that the browser has stored. */
  async stored(): Promise<string> {
    return (await this.page.evaluate(`(async () => {
      const rows = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie];
      for (const { name } of await indexedDB.databases()) {
        const db = await new Promise((resolve) => {
          const request = indexedDB.open(name);
          request.onsuccess = () => resolve(request.result);
        });
        for (const store of db.objectStoreNames) {
          rows.push(await new Promise((resolve) => {
            const request = db.transaction(store).objectStore(store).getAll();
            request.onsuccess = () => resolve(store + JSON.stringify(request.result));
          }));
        }
        db.close();
      }
      return rows.join('\\n');
    })()`)) as string;
  }

  /** Buttons, links and fields with a chosen value whose text does not fit into them. */
  async clippedLabels(): Promise<string[]> {
    await this.#viewIsDrawn();
    return (await this.page.evaluate(`[...document.querySelectorAll('button, a, label, input[readonly]')]
      .flatMap((control) => [control, ...control.querySelectorAll('*')])
      .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1
        && getComputedStyle(part).overflowX !== 'visible' && getComputedStyle(part).textOverflow !== 'ellipsis')
      .map((part) => part.value ?? part.textContent)
      .filter((words) => words !== '')`)) as string[];
  }

  /** Waits until the page has drawn what it has been asked to. */
  async settled(): Promise<void> {
    await this.page.evaluate(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))',
    );
  }

  /** By how many pixels the page is wider than the window. */
  async overflow(): Promise<number> {
    await this.#viewIsDrawn();
    return (await this.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) as number;
  }
}
