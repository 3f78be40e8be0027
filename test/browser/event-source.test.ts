import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RunningNode, startNode } from '@apus/node';
import mqtt, { type MqttClient } from 'mqtt';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAMS } from '../docs/programs.ts';
import { launchChromium, needsBrowser } from './chromium.ts';
import { eventually } from './support/eventually.ts';

/** Writes down each event of the stream at `url`, as "TYPE TEXT". */
const PROGRAM = `
  log = [];
  open = (url) => {
    source = new EventSource(url);
    for (const type of ['message', 'gap', 'end'])
      source.addEventListener(type, ({ data }) => log.push(type + ' ' + (JSON.parse(data).payload ?? '')));
  };
`;

/** The page's origin is not the broker's, as with any app. */
describe('EventSource of Chromium', needsBrowser(), () => {
  let node: RunningNode;
  let site: Server;
  let browser: Browser;
  let publisher: MqttClient;

  beforeAll(async () => {
    node = await startNode({
      port: 0,
      logLevel: 'silent',
      streams: [{ name: 'chat', topicFilter: 'chat/#' }],
    });
    site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>app'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launchChromium();
    publisher = await mqtt.connectAsync(node.url, { clientId: 'publisher' });
  });

  afterAll(async () => {
    await publisher?.endAsync();
    await browser?.close();
    await node?.stop();
    site?.close();
  });

  async function blank(): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    return page;
  }

  async function opened(query: string): Promise<Page> {
    const page = await blank();
    await page.evaluate(PROGRAM);
    await page.evaluate(`open(${JSON.stringify(new URL(`/api/v5/events?${query}`, node.httpUrl).href)})`);
    return page;
  }

  const logOf = (page: Page) => page.evaluate<string[]>('log');
  const stateOf = (page: Page) => page.evaluate<number>('source.readyState');

  it('goes on by itself after a disconnection: without a gap where a stream keeps the topic, else with one', async () => {
    const page = await opened('topic=chat/room&topic=news/%2B');
    await eventually(() => stateOf(page)).toBe(1);
    await publisher.publishAsync('chat/room', 'ä 1', { qos: 1 });
    await publisher.publishAsync('news/a', 'n 1', { qos: 1 });
    await eventually(() => logOf(page)).toEqual(['message ä 1', 'message n 1']);
    const clients = await fetch(new URL('/api/v5/clients', node.httpUrl));
    const { data } = (await clients.json()) as { data: readonly { clientid: string }[] };
    const { clientid = '' } = data.find((each) => each.clientid !== 'publisher') ?? {};
    await fetch(new URL(`/api/v5/clients/${clientid}`, node.httpUrl), { method: 'DELETE' });
    await publisher.publishAsync('chat/room', 'ä 2', { qos: 1 });
    await publisher.publishAsync('chat/room', 'ä 3', { qos: 1 });
    const told = ['message ä 1', 'message n 1', 'end '];
    await eventually(async () => (await logOf(page)).slice(0, 3)).toEqual(told);
    await eventually(async () => (await logOf(page)).slice(3).sort()).toEqual([
      'gap ',
      'message ä 2',
      'message ä 3',
    ]);
    await publisher.publishAsync('chat/room', 'ä 4', { qos: 1 });
    await eventually(async () => (await logOf(page)).at(-1)).toBe('message ä 4');
    await page.close();
  });

  it('runs the program of docs/streams.md', async () => {
    const page = await blank();
    const { code = '' } = PROGRAMS.find(({ id }) => id === 'docs/streams.md 3') ?? {};
    const scope = `log = []; show = (text) => log.push(text); reload = show; token = '';`;
    const url = JSON.stringify(node.httpUrl.replace(/\/$/, ''));
    await page.evaluate(`${scope} url = ${url}; ${code.replace('const source', 'source')}`);
    await eventually(() => stateOf(page)).toBe(1);
    await publisher.publishAsync('chat/room-7', 'shown', { qos: 1 });
    await eventually(() => logOf(page)).toEqual(['shown']);
    await page.close();
  });

  it('does not come back where it is refused', async () => {
    const page = await opened('topic=a/%23/b');
    await eventually(() => stateOf(page)).toBe(2);
    expect(await logOf(page)).toEqual([]);
    await page.close();
  });
});
