import { existsSync, readFileSync } from 'node:fs';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { MESSAGE_COLUMNS, MessageColumn } from '../../src/engine/protocol.ts';
import type { Door } from '../../src/engine/types.ts';
import { drainProbe, installProbe, type Seen } from './probe.ts';

/** The paths of Debian, Ubuntu and Google. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const COLUMNS = {
  count: MESSAGE_COLUMNS,
  atMs: MessageColumn.AtMs,
  latencyMs: MessageColumn.LatencyMs,
};

const KIBIBYTE = 1024;

/** A view that was opened has rendered long before this time. */
const OPENING_MS = 1_000;

/** The web client in headless Chromium, connected; methods are named after the actions of its users. */
export class ClientPage {
  readonly page: Page;
  readonly browserVersion: string;
  readonly #browser: Browser;
  readonly #session: CDPSession;
  readonly #rendererPid: number | undefined;

  private constructor(browser: Browser, page: Page, session: CDPSession, rendererPid: number | undefined) {
    this.page = page;
    this.browserVersion = browser.version();
    this.#browser = browser;
    this.#session = session;
    this.#rendererPid = rendererPid;
  }

  static async open(url: string, door: Door): Promise<ClientPage> {
    const executablePath = PATHS.find(existsSync);
    if (executablePath === undefined) throw new Error(`no browser at ${PATHS.join(', ')}`);
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on('pageerror', (error) => process.stderr.write(`The page says: ${error.message}\n`));
    await page.addInitScript(installProbe, COLUMNS);
    // The page connects to the first endpoint in its configuration.
    await page.route('**/config.json', async (route) => {
      const { endpoints } = (await (await route.fetch()).json()) as { endpoints: { door: Door }[] };
      await route.fulfill({ json: { endpoints: endpoints.filter((endpoint) => endpoint.door === door) } });
    });
    await page.goto(`${url}#/messages`);
    await page.getByRole('button', { name: 'Disconnect' }).waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new ClientPage(browser, page, session, await rendererPid(browser));
  }

  async subscribe(filter: string): Promise<void> {
    await this.page.getByLabel('Topic filter', { exact: true }).fill(filter);
    await this.page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await this.page.getByRole('button', { name: `Edit ${filter}`, exact: true }).waitFor();
  }

  /** Two lines over time, for a number in the payload and for the latency. */
  async addCharts(topic: string, path: string): Promise<void> {
    await this.openView('charts');
    await this.#addSeries(topic, 'Number in the payload', path);
    await this.#addSeries(topic, 'Latency', undefined);
  }

  async #addSeries(topic: string, kind: string, path: string | undefined): Promise<void> {
    await this.page.getByRole('button', { name: 'Add a series' }).first().click();
    const dialog = this.page.getByRole('dialog');
    await dialog.getByLabel('Topic or topic filter').fill(topic);
    await dialog.getByRole('combobox', { name: 'Value to chart' }).click();
    await this.page.getByRole('option', { name: kind }).click();
    if (path !== undefined) await dialog.getByLabel('Path in the payload').fill(path);
    await dialog.getByRole('button', { name: 'Add a series' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  async openView(view: string): Promise<void> {
    await this.page.evaluate((id) => {
      location.hash = `#/${id}`;
    }, view);
  }

  /** Opens a view while messages come. Returns the longest frame meanwhile: its user has clicked, and waits. */
  async switchView(view: string): Promise<number> {
    await this.drain();
    await this.openView(view);
    await this.page.waitForTimeout(OPENING_MS);
    const { frames } = await this.drain();
    return Math.max(0, ...frames);
  }

  async drain(): Promise<Seen> {
    return await this.page.evaluate(drainProbe);
  }

  /** The bytes of the page's heap after a garbage collection. Stops the page for that. */
  async heapBytes(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    return usedSize;
  }

  /** Memory of the whole process: the page, its workers, and the buffers outside of heaps. Linux only. */
  residentBytes(): number | undefined {
    if (this.#rendererPid === undefined || !existsSync('/proc/self/status')) return undefined;
    const status = readFileSync(`/proc/${this.#rendererPid}/status`, 'utf8');
    const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(status) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * KIBIBYTE;
  }

  /** Processor time of the page's own thread so far, in seconds: other load on the machine does not affect it. */
  async threadSeconds(): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  }

  async startProfile(): Promise<void> {
    await this.#session.send('Profiler.enable');
    await this.#session.send('Profiler.start');
  }

  /** @returns what Chromium's developer tools open as a `.cpuprofile` */
  async stopProfile(): Promise<string> {
    const { profile } = await this.#session.send('Profiler.stop');
    return JSON.stringify(profile);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

async function rendererPid(browser: Browser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  // The renderer with the most processor time is the page's; others are idle.
  return renderers.sort((a, b) => b.cpuTime - a.cpuTime)[0]?.id;
}
