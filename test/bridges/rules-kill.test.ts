import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFor, receiver, SIMPLY_OK, status } from '@apus/bridges/testing';
import { Built } from '@apus/cli/testing';
import { describe, expect, test } from 'vitest';
import { directory, startKillable } from './killable.ts';
import { firstOf, LOAD, publishAll } from './load.ts';

const built = new Built();
const KILLS = 3;
const ARRIVAL = { timeout: 120_000, interval: 100 };
const QUEUE = 100_000;

function rulesFile(url: string, others: object = {}): string {
  const path = join(directory(), 'rules.json');
  const webhook = { url, allowAddresses: ['127.0.0.1'] };
  const rule = { name: 'kill', filter: 'up/#', to: { webhook }, retrySecondsMax: 1, ...others };
  writeFileSync(path, JSON.stringify({ rules: [rule] }));
  return path;
}

describe('kill -9 of a broker with rules, under load', () => {
  test('loses no acknowledged message for a webhook, and keeps the order of a topic', async () => {
    const server = await receiver();
    const here = await startKillable(built, QUEUE, ['--rules', rulesFile(server.url)]);
    const load = { ...LOAD, prefix: 'up/', qos: 1 } as const;
    const publisher = await clientFor(here.url, { clientId: 'publisher', clean: false });
    let kills: Promise<void> = Promise.resolve();
    await publishAll(publisher, load, (count) => {
      // The endpoint fails now and then, too.
      server.answer = count % 50 < 10 ? status(503) : SIMPLY_OK;
      if (count % Math.ceil(load.count / (KILLS + 1)) === 0) kills = kills.then(here.kill);
    });
    await kills;
    server.answer = SIMPLY_OK;
    for (const topic of load.topics) {
      const arrived = () => server.payloads(`up/${topic}`).map((text) => ({ topic, number: Number(text) }));
      await expect.poll(() => firstOf(arrived(), topic).length, ARRIVAL).toBe(load.count);
      expect(firstOf(arrived(), topic)).toEqual(load.numbers);
    }
  });

  test('loses no dead letter and no delayed message', async () => {
    const server = await receiver(status(400));
    const here = await startKillable(built, QUEUE, ['--rules', rulesFile(server.url)]);
    const client = await clientFor(here.url, { clientId: 'publisher', clean: false });
    await client.publishAsync('up/a', 'dead', { qos: 1 });
    await client.publishAsync('$delayed/3/up/a', 'delayed', { qos: 1 });
    const rules = new URL('/api/v5/rules', here.url.replace(/^ws/, 'http'));
    const letters = async () => {
      const response = await fetch(rules);
      const { data } = (await response.json()) as { data: { dead_letters: number }[] };
      return data[0]?.dead_letters;
    };
    await expect.poll(letters, ARRIVAL).toBe(1);
    await here.kill();
    await expect.poll(letters, ARRIVAL).toBe(2);
    server.answer = SIMPLY_OK;
    await fetch(`${rules}/kill/dead_letters/send`, { method: 'POST' });
    expect(server.payloads()).toEqual(['dead', 'delayed']);
  });
});
