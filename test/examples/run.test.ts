import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDoors } from '@apus/cli';
import mqtt from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';
import { mosquittoOrSkip } from '../bridges/mosquitto-or-skip.ts';
import { buildCommand } from '../support/build-command.ts';
import { freePort } from '../support/free-port.ts';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { needs, needsAll } from '../support/skips.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/run.mjs', import.meta.url));
const run = promisify(execFile);

/** Starts the example's page without a broker, and returns the address that it prints. */
async function start(...flags: string[]): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [EXAMPLES, 'chat', '--no-broker', ...flags]);
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) return [child, url];
  }
  throw new Error('the example has ended without an address');
}

test('an example serves its page on this machine, until it is stopped', async () => {
  const [child, url] = await start('--port', '0');
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect(await (await fetch(url)).text()).toContain('<title>Chat</title>');
  expect((await fetch(`${url}chat.js`)).status).toBe(200);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('the backend publishes its prices in one request, until it is stopped', async () => {
  const node = await startDoors({ port: 0, logLevel: 'silent' });
  onTestFinished(() => node.stop());
  const subscriber = await mqtt.connectAsync(node.url);
  onTestFinished(() => void subscriber.end(true));
  const topics = new Set<string>();
  subscriber.on('message', (topic) => topics.add(topic));
  await subscriber.subscribeAsync('prices/+');
  const env = { ...process.env, APUS_URL: node.url.replace('ws:', 'http:').replace('/mqtt', '') };
  const child = spawn(process.execPath, [EXAMPLES, 'backend'], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect.poll(() => topics.size).toBe(6);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

const mosquitto = mosquittoOrSkip();

test(
  'a lamp at IoT Core is seen and switched through the bridge',
  needsAll(needsOpenssl(), needs('mosquitto', mosquitto)),
  async () => {
    const port = String(await freePort());
    const command = join(await buildCommand(), 'apus.js');
    const child = spawn(process.execPath, [EXAMPLES, 'iot-bridge'], {
      env: { ...process.env, APUS_PORT: port, APUS_COMMAND: command },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => said.push(String(text)));
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the example has ended with ${code}: ${said.join('')}`);
    });
    const browser = mqtt.connect(`ws://127.0.0.1:${port}/mqtt`, { reconnectPeriod: 100 });
    onTestFinished(() => void browser.end(true));
    const states: string[] = [];
    browser.on('message', (_, payload) => states.push(payload.toString()));
    browser.on('connect', () => browser.subscribe('things/+/state'));
    const isSeen = expect
      .poll(() => states, { timeout: 60_000, message: 'the lamp is off' })
      .toContain('off');
    await Promise.race([isSeen, ended]);
    // The bridge may not have subscribed yet.
    await expect
      .poll(
        async () => {
          await browser.publishAsync('things/lamp/set', 'on', { qos: 1 });
          return states;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toContain('on');
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
    await ended.catch(() => {});
  },
);

test.each([
  [['none'], 'There is no example "none": take one of '],
  [[], 'Usage: npm run example NAME'],
  [['chat', '--port', 'x'], '--port: "x" is no port.'],
  [['chat', '--nonsense'], "Unknown option '--nonsense'"],
])('an example that is run with %j says what is wrong', async (args, sentence) => {
  await expect(run(process.execPath, [EXAMPLES, ...args])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(sentence),
  });
});
