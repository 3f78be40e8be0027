// Chromium with the web client in it, as the soak test needs it.
import { existsSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { drainProbe, installProbe } from './probe.mjs';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Of `engine/protocol.ts`. */
const MESSAGE_COLUMNS = 9;

const KIBIBYTE = 1024;

export class SoakPage {
  /** @param {string} url of the page */
  static async open(url) {
    const executablePath = PATHS.find(existsSync);
    if (executablePath === undefined) throw new Error(`no browser at ${PATHS.join(', ')}`);
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on('pageerror', (error) => console.error(`The page says: ${error.message}`));
    await page.addInitScript(installProbe, { messageColumns: MESSAGE_COLUMNS });
    await page.goto(`${url}#/messages`);
    await page.getByRole('button', { name: 'Disconnect' }).waitFor();
    return new SoakPage(browser, page, await page.context().newCDPSession(page), await rendererPid(browser));
  }

  constructor(browser, page, session, pid) {
    this.browser = browser;
    this.page = page;
    this.session = session;
    this.pid = pid;
  }

  /** @param {string} filter */
  async subscribe(filter) {
    await this.page.getByLabel('Topic filter', { exact: true }).fill(filter);
    await this.page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await this.page.getByRole('button', { name: `Edit ${filter}`, exact: true }).waitFor();
  }

  /** Two lines over time, of the value and of the latency. */
  async addCharts(topic) {
    await this.openView('charts');
    for (const [kind, path] of [
      ['Number in the payload', '$.value'],
      ['Latency', undefined],
    ]) {
      await this.page.getByRole('button', { name: 'Add a series' }).first().click();
      const dialog = this.page.getByRole('dialog');
      await dialog.getByLabel('Topic or topic filter').fill(topic);
      await dialog.getByRole('combobox', { name: 'What to chart' }).click();
      await this.page.getByRole('option', { name: kind }).click();
      if (path !== undefined) await dialog.getByLabel('Path in the payload').fill(path);
      await dialog.getByRole('button', { name: 'Add a series' }).click();
      await dialog.waitFor({ state: 'hidden' });
    }
  }

  /** @param {string} view */
  async openView(view) {
    await this.page.evaluate((id) => {
      location.hash = `#/${id}`;
    }, view);
  }

  async drain() {
    return await this.page.evaluate(drainProbe);
  }

  /** What the page's heap holds after everything that is garbage was collected. */
  async heapBytes() {
    await this.session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.session.send('Runtime.getHeapUsage');
    return usedSize;
  }

  /** The whole process: the page, its workers, and the buffers that no heap counts. Linux only. */
  residentBytes() {
    if (this.pid === undefined || !existsSync('/proc/self/status')) return undefined;
    const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * KIBIBYTE;
  }

  async startProfile() {
    await this.session.send('Profiler.enable');
    await this.session.send('Profiler.start');
  }

  async stopProfile() {
    const { profile } = await this.session.send('Profiler.stop');
    return profile;
  }

  async close() {
    await this.browser.close();
  }
}

async function rendererPid(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  // The one that has worked most is the page's; others wait for a page.
  return renderers.sort((a, b) => b.cpuTime - a.cpuTime)[0]?.id;
}
