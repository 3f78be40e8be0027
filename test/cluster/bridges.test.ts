import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFor, collector, nodeForTest, receiver, SIMPLY_OK, status } from '@apus/bridges/testing';
import { Built, type Serving } from '@apus/cli/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { directory } from '../bridges/killable.ts';
import { firstOf, LOAD, publishAll, reader } from '../bridges/load.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';

const program = engineOrSkip();
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 120_000, interval: 100 };
const QUEUE = ['--queue-length-max', '100000'];

interface Entry {
  readonly name: string;
  readonly dead_letters?: number;
}

async function api(
  { pageUrl }: Serving,
  path: string,
  method = 'GET',
): Promise<{ status: number; data: Entry[] }> {
  const response = await fetch(new URL(`/api/v5${path}`, pageUrl), { method });
  const text = await response.text();
  return { status: response.status, data: text === '' ? [] : (JSON.parse(text) as { data: Entry[] }).data };
}

function fileOf(name: string, content: object): string {
  const path = join(directory(), name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('bridges and rules of a cluster', needs('engine', program), () => {
  const built = new Built();

  /** The first process has the bridges and rules of a single process. */
  async function clusterWith(...flags: string[]): Promise<[Serving, Serving, Serving]> {
    const engine = await startEngine(program ?? '');
    onTestFinished(() => engine.stop());
    const start = () => built.serve(['--cluster', engine.url, ...QUEUE, ...flags]);
    return [await start(), await start(), await start()];
  }

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'a rule runs at one process, and continues at another when that one ends by %s under load',
    async (signal) => {
      const server = await receiver();
      const webhook = { url: server.url, allowAddresses: ['127.0.0.1'] };
      const rule = { name: 'once', filter: 'up/#', to: { webhook }, retrySecondsMax: 1 };
      const members = await clusterWith('--rules', fileOf('rules.json', { rules: [rule] }));
      for (const member of members)
        expect((await api(member, '/rules')).data.map(({ name }) => name)).toEqual(['once']);
      const publisher = await clientFor(members[1].url, { clientId: 'publisher' });
      for (const text of ['x', 'y', 'z']) await publisher.publishAsync('up/first', text, { qos: 1 });
      await expect.poll(() => server.payloads('up/first')).toEqual(['x', 'y', 'z']);
      const load = { ...LOAD, prefix: 'up/', qos: 1 } as const;
      let ended: Promise<unknown> = Promise.resolve();
      await publishAll(publisher, load, (count) => {
        server.answer = count % 50 < 10 ? status(503) : SIMPLY_OK;
        if (count === load.count / 4) ended = members[0].stop(signal);
      });
      await ended;
      server.answer = SIMPLY_OK;
      for (const topic of load.topics) {
        const arrived = () => server.payloads(`up/${topic}`).map((text) => ({ topic, number: Number(text) }));
        await expect.poll(() => firstOf(arrived(), topic).length, ARRIVAL).toBe(load.count);
        expect(firstOf(arrived(), topic)).toEqual(load.numbers);
      }
      for (const member of members.slice(1)) expect((await api(member, '/rules')).data).toHaveLength(1);
    },
  );

  it('a dead letter is listed and sent again at any process, also after the death of the process that gave the message up', async () => {
    const server = await receiver(status(400));
    const webhook = { url: server.url, allowAddresses: ['127.0.0.1'] };
    const rule = { name: 'dead', filter: 'up/#', to: { webhook }, retrySecondsMax: 1 };
    const members = await clusterWith('--rules', fileOf('rules.json', { rules: [rule] }));
    const publisher = await clientFor(members[2].url);
    await publisher.publishAsync('up/a', 'letter', { qos: 1 });
    const letters = async (at: Serving) => (await api(at, '/rules/dead/dead_letters')).data?.length;
    for (const member of members) await expect.poll(() => letters(member), ARRIVAL).toBe(1);
    await members[0].stop('SIGKILL');
    for (const member of members.slice(1)) await expect.poll(() => letters(member), ARRIVAL).toBe(1);
    server.answer = SIMPLY_OK;
    expect((await api(members[1], '/rules/dead/dead_letters/send', 'POST')).status).toBe(200);
    expect(server.payloads()).toEqual(['letter']);
    expect((await api(members[2], '/rules/none/dead_letters')).status).toBe(404);
  });

  it('a bridge to another broker runs at one process, and continues in both directions when that one is killed', async () => {
    const there = await nodeForTest({ queueLengthMax: 100_000 });
    const bridge = {
      name: 'once',
      mqtt: { url: there.url },
      out: [{ filter: '#', localPrefix: 'up/', remotePrefix: 'x/', qos: 1 }],
      in: [{ filter: '#', localPrefix: 'down/', remotePrefix: 'y/', qos: 1 }],
    };
    const members = await clusterWith('--bridges', fileOf('bridges.json', { bridges: [bridge] }));
    const publisher = await clientFor(members[2].url);
    const load = { ...LOAD, prefix: 'up/', qos: 1 } as const;
    const arrived = await reader(there.url, 'x/#');
    const here = await collector(members[1].url, 'down/#');
    const other = await clientFor(there.url);
    let ended: Promise<unknown> = Promise.resolve();
    await publishAll(publisher, load, (count) => {
      if (count === load.count / 4) ended = members[0].stop('SIGKILL');
    });
    await ended;
    for (const topic of load.topics) {
      await expect.poll(() => firstOf(arrived, `x/${topic}`).length, ARRIVAL).toBe(load.count);
      expect(firstOf(arrived, `x/${topic}`)).toEqual(load.numbers);
    }
    await other.publishAsync('y/a', 'back', { qos: 1 });
    await expect.poll(() => here.texts(), ARRIVAL).toEqual(['back']);
    for (const member of members.slice(1)) expect((await api(member, '/bridges')).data).toHaveLength(1);
  });
});
