import { connectAsync, type MqttClient } from 'mqtt';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { launchChromium, needsBrowser } from '../chromium.ts';
import { ClientPage, type PageOptions } from './client-page.ts';
import { Pages, unfoldPublish } from './pages.ts';
import { BuiltClient, type Served } from './served-client.ts';

/** One browser for all files of a worker; it ends with the worker. Its start takes longer than most tests. */
let chromium: Promise<Browser> | undefined;
/**
 * The port at which a file's pages find the broker. It is the same for all files of a worker, as each file uses the
 * pages of the file before.
 */
let port: number | undefined;
let pages: Pages | undefined;

/** The web client as `npm start` serves it, a browser to see it in, and an MQTT client beside it. For tests and hooks. */
export class ClientSuite {
  #built: BuiltClient | undefined;
  #served: Served | undefined;
  #browser: Browser | undefined;
  #other: MqttClient | undefined;
  readonly #opened: ClientPage[] = [];

  get built(): BuiltClient {
    return started(this.#built);
  }

  /** The broker that the pages find by themselves. */
  get served(): Served {
    return started(this.#served);
  }

  /** A client of its node door, which speaks MQTT 5. */
  get other(): MqttClient {
    return started(this.#other);
  }

  async start(): Promise<void> {
    this.#built = await BuiltClient.build();
    port ??= await freePort();
    this.#served = await this.#built.serve(['--port', String(port)]);
    chromium ??= launchChromium();
    this.#browser = await chromium;
    pages ??= new Pages(this.#browser, this.#served.pageUrl);
    this.#other = await connectAsync(this.#served.nodeUrl, { protocolVersion: 5 });
  }

  /** Closes also the parts that a failed `start` has started. */
  async stop(): Promise<void> {
    await this.#other?.endAsync();
    await this.#served?.stop();
  }

  /** A page for this test alone. The test fails if the page logs errors or breaks its policy. */
  async openUrl(url: string, options: PageOptions = {}): Promise<ClientPage> {
    const page = await (options.context?.newPage() ?? started(pages).take());
    const client = await ClientPage.open(page, url, options);
    this.#opened.push(client);
    return client;
  }

  async open(view: string, options: PageOptions = {}): Promise<ClientPage> {
    return await this.openUrl(`${this.served.pageUrl}#/${view}`, options);
  }

  async openConnected(view: string, options: PageOptions = {}): Promise<ClientPage> {
    const client = await this.open(view, options);
    await client.connected();
    return client;
  }

  /** A browser context with empty storage, closed at the end of the test. The panel to publish is open, unless `isNew`. */
  async newContext({ isNew = false } = {}): Promise<BrowserContext> {
    const context = await started(this.#browser).newContext();
    if (!isNew) await unfoldPublish(context);
    onTestFinished(() => context.close());
    return context;
  }

  /** Closes everything that the test has opened. Resolves with the errors of the pages. */
  async closePages(failedTest: string | undefined): Promise<string[]> {
    const opened = this.#opened.splice(0);
    if (failedTest !== undefined) await opened[0]?.takeScreenshot(`failed-${failedTest}`);
    const complaints = opened.flatMap((client) => client.complaints);
    for (const { page } of opened) await started(pages).giveBack(page);
    return complaints;
  }
}

/** Tests of the web client in Chromium: skipped on a machine that has none, except in CI, where that is a failure. */
export function clientSuite(title: string, define: (suite: ClientSuite) => void): void {
  describe(`${title}, in Chromium`, needsBrowser(), () => {
    const suite = new ClientSuite();
    beforeAll(() => suite.start());
    afterAll(() => suite.stop());
    afterEach(async ({ task }) => {
      const failedTest = task.result?.state === 'fail' ? task.name : undefined;
      expect(await suite.closePages(failedTest)).toEqual([]);
    });
    define(suite);
  });
}

function started<T>(part: T | undefined): T {
  if (part === undefined)
    throw new Error('the suite starts before its first test: this is asked for too early');
  return part;
}
