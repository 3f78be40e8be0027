import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bridgedNode, clientFor, nodeForTest } from '@apus/bridges/testing';
import { Built } from '@apus/cli/testing';
import { describe, expect, test } from 'vitest';
import { directory, startKillable } from './killable.ts';
import { firstOf, LOAD, type Load, publishAll, reader } from './load.ts';

const built = new Built();
const KILLS = 3;
const ARRIVAL = { timeout: 120_000, interval: 100 };
/** The longest wait, as all of the load may have to wait. */
const QUEUE = 100_000;
const killable = (args: readonly string[] = []) => startKillable(built, QUEUE, args);

/** Kills the broker this many times while the load runs, each time after this many messages. */
async function underLoad(load: Load, publisherUrl: string, kill: () => Promise<void>): Promise<void> {
  const publisher = await clientFor(publisherUrl, { clientId: 'publisher', clean: false });
  let kills: Promise<void> = Promise.resolve();
  await publishAll(publisher, load, (count) => {
    if (count % Math.ceil(load.count / (KILLS + 1)) === 0) kills = kills.then(kill);
  });
  await kills;
}

describe('kill -9 under load', () => {
  test.each([1, 2] as const)(
    'of the other broker: messages that this broker acknowledges at QoS %i arrive there, in order',
    async (qos) => {
      const there = await killable();
      const mapping = { filter: '#', localPrefix: 'up/', remotePrefix: 'x/', qos };
      const here = await bridgedNode({ mqtt: { url: there.url }, out: [mapping] }, { queueLengthMax: QUEUE });
      const load = { ...LOAD, prefix: 'up/', qos };
      const arrived = await reader(there.url, 'x/#');
      await underLoad(load, here.url, there.kill);
      for (const topic of load.topics) {
        await expect.poll(() => firstOf(arrived, `x/${topic}`).length, ARRIVAL).toBe(load.count);
        expect(firstOf(arrived, `x/${topic}`)).toEqual(load.numbers);
      }
      if (qos === 2) expect(arrived.length).toBe(load.count * load.topics.length);
    },
  );

  test.each([1, 2] as const)(
    'of this broker: messages that the other one acknowledges at QoS %i arrive here, in order',
    async (qos) => {
      const there = await nodeForTest({ queueLengthMax: QUEUE });
      const file = join(directory(), 'bridges.json');
      const mapping = { filter: '#', localPrefix: 'down/', remotePrefix: 'x/', qos };
      const bridge = { name: 'kill', mqtt: { url: there.url }, in: [mapping] };
      writeFileSync(file, JSON.stringify({ bridges: [bridge] }));
      const here = await killable(['--bridges', file]);
      const load = { ...LOAD, prefix: 'x/', qos };
      const arrived = await reader(here.url, 'down/#');
      await expect.poll(async () => await hasSession(there.httpUrl, 'apus-kill')).toBe(true);
      await underLoad(load, there.url, here.kill);
      for (const topic of load.topics) {
        await expect.poll(() => firstOf(arrived, `down/${topic}`).length, ARRIVAL).toBe(load.count);
        expect(firstOf(arrived, `down/${topic}`)).toEqual(load.numbers);
      }
      if (qos === 2) expect(arrived.length).toBe(load.count * load.topics.length);
    },
  );

  test('of this broker: messages that it has acknowledged arrive at the other one, in order', async () => {
    const there = await nodeForTest({ queueLengthMax: QUEUE });
    const file = join(directory(), 'bridges.json');
    const mapping = { filter: '#', localPrefix: 'up/', remotePrefix: 'x/', qos: 1 };
    writeFileSync(
      file,
      JSON.stringify({ bridges: [{ name: 'kill', mqtt: { url: there.url }, out: [mapping] }] }),
    );
    const here = await killable(['--bridges', file]);
    const load = { ...LOAD, prefix: 'up/', qos: 1 } as const;
    const arrived = await reader(there.url, 'x/#');
    await underLoad(load, here.url, here.kill);
    for (const topic of load.topics) {
      await expect.poll(() => firstOf(arrived, `x/${topic}`).length, ARRIVAL).toBe(load.count);
      expect(firstOf(arrived, `x/${topic}`)).toEqual(load.numbers);
    }
  });
});

/** Waits until the bridge has subscribed. The other broker keeps nothing for it before. */
async function hasSession(httpUrl: string, clientId: string): Promise<boolean> {
  const response = await fetch(new URL(`/api/v5/clients/${clientId}`, httpUrl));
  const { subscriptions_cnt: count } = (await response.json()) as { readonly subscriptions_cnt?: number };
  return count === 1;
}
