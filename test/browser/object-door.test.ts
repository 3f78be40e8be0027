import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { needsWorkerd, newFolder, startLocal } from '@apus/cloudflare/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, needsBrowser } from './chromium.ts';

/** The bundle of mqtt.js for browsers. */
const MQTTJS = readFileSync(
  join(dirname(createRequire(import.meta.url).resolve('mqtt/package.json')), 'dist/mqtt.min.js'),
  'utf8',
);

/** Publishes at each QoS to a subscription of its own, and resolves with what comes. */
const PROGRAM = `async (url) => {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 0 });
  const came = [];
  const all = new Promise((resolve) => client.on('message', (topic, payload, { qos }) => {
    if (came.push(topic + ' ' + payload + ' ' + qos) === 3) resolve(came.sort());
  }));
  await client.subscribeAsync('t/#', { qos: 2 });
  for (const qos of [0, 1, 2]) await client.publishAsync('t/' + qos, 'x', { qos });
  const answer = await all;
  await client.endAsync();
  return answer;
}`;

describe('the object door in Chromium', { ...needsWorkerd, ...needsBrowser() }, () => {
  const folder = newFolder();
  let workerd: Awaited<ReturnType<typeof startLocal>>;
  let site: Server;
  let browser: Browser;

  beforeAll(async () => {
    const texts = { CONFIGURATION: JSON.stringify({ allowedOrigins: ['loopback'] }) };
    workerd = await startLocal({ folder, port: 0, texts, log: () => {} });
    site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>app'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await workerd?.stop();
    site?.close();
    rmSync(folder, { recursive: true });
  });

  it('serves stock mqtt.js of a page', async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.addScriptTag({ content: MQTTJS });
    const url = `ws://127.0.0.1:${workerd.port}/mqtt`;
    const came = await page.evaluate(`(${PROGRAM})(${JSON.stringify(url)})`);
    expect(came).toEqual(['t/0 x 0', 't/1 x 1', 't/2 x 2']);
  });
});
