import type { UsageLine } from '@apus/broker';
import { noUsage, type UsageRow } from '@apus/broker';
import { Built, type Serving } from '@apus/cli/testing';
import { Engine, Membership, ValkeyUsage } from '@apus/cluster/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 100 };
const UNCERTAIN_MS = 10_000;

async function engineForTest(): Promise<TestEngine> {
  const engine = await startEngine(program ?? '');
  onTestFinished(() => engine.stop());
  return engine;
}

async function usageAt({ pageUrl }: Serving): Promise<UsageLine> {
  const { data } = (await (await fetch(new URL('/api/v5/usage', pageUrl))).json()) as {
    data: readonly UsageLine[];
  };
  return data[0] ?? { tenant: '', time: '', ...noUsage() };
}

async function publish({ url }: Serving, count: number): Promise<void> {
  const { client } = await ClusterClient.connect(url);
  for (let sent = 0; sent < count; sent += 1) await client.publishAsync(unique('t'), 'x', { qos: 1 });
  await client.endAsync();
}

describe('GET /api/v5/usage of three processes', needs('engine', program), () => {
  const built = new Built();

  it('adds up the traffic of all, and keeps that of dead ones', async () => {
    const engine = await engineForTest();
    const start = () =>
      built.serve(['--cluster', engine.url, '--sys-interval-seconds', '0', '--sys-heartbeat-seconds', '0']);
    const [one, two, three] = [await start(), await start(), await start()] as [Serving, Serving, Serving];
    await publish(one, 10);
    await publish(two, 20);
    await publish(three, 30);
    for (const process of [one, two, three])
      expect(await usageAt(process)).toMatchObject({ messagesIn: 60, uncertainMs: 0 });
    // An orderly end leaves nothing uncertain.
    await publish(one, 5);
    await one.stop('SIGTERM');
    await expect.poll(async () => (await usageAt(two)).messagesIn, ARRIVAL).toBe(65);
    expect((await usageAt(three)).uncertainMs).toBe(0);
    await two.stop('SIGKILL');
    await expect.poll(async () => (await usageAt(three)).uncertainMs, ARRIVAL).toBe(UNCERTAIN_MS);
    expect((await usageAt(three)).messagesIn).toBe(65);
    await publish(three, 7);
    await three.stop('SIGTERM');
    const next = await start();
    await publish(next, 1);
    await expect.poll(async () => (await usageAt(next)).messagesIn, ARRIVAL).toBe(73);
  });
});

describe('usage in the engine', needs('engine', program), () => {
  const row = (hour: string, tenant: string, messagesIn: number): UsageRow => ({
    hour,
    tenant,
    counts: { ...noUsage(), messagesIn, storageByteSeconds: 2 ** 52 },
  });
  const [H1, H2, NEXT_DAY] = ['2026-11-25T22', '2026-11-25T23', '2026-11-26T00'];

  async function member(url: string, name: string) {
    const engine = await Engine.connect({ url });
    onTestFinished(() => engine.close());
    const membership = new Membership(engine, name);
    await membership.join();
    return { membership, usage: new ValkeyUsage(engine, membership) };
  }

  async function countsOf(usage: ValkeyUsage, tenant = 'acme'): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { hour, tenant: of, counts: counted } of await usage.rows(H1, NEXT_DAY))
      if (of === tenant) counts[hour] = (counts[hour] ?? 0) + counted.messagesIn;
    return counts;
  }

  it('has each row once, as hours end and processes die', async () => {
    const { url } = await engineForTest();
    const [a, b] = [await member(url, 'a'), await member(url, 'b')];
    await a.usage.save([row(H1, 'acme', 1), row(H1, 'a b', 50)], false);
    await b.usage.save([row(H1, 'acme', 2)], false);
    expect(await countsOf(a.usage)).toEqual({ [H1]: 3 });
    await a.usage.append([row(H1, 'acme', 4), row(H1, 'a b', 50)]);
    await a.usage.save([row(H2, 'acme', 8)], false);
    expect(await countsOf(b.usage)).toEqual({ [H1]: 6, [H2]: 8 });
    expect(await countsOf(b.usage, 'a b')).toEqual({ [H1]: 50 });
    // It dies; the heir is asked twice.
    await a.membership.end('a');
    expect(await b.membership.reap('a')).toBeDefined();
    expect(await countsOf(b.usage)).toEqual({ [H1]: 6, [H2]: 8 });
    await b.usage.inherit('a', UNCERTAIN_MS);
    await b.usage.inherit('a', UNCERTAIN_MS);
    await b.usage.append([row(H1, 'acme', 2), row(H2, 'acme', 16), row(NEXT_DAY, 'acme', 32)]);
    await b.usage.save([], true);
    expect(await countsOf(b.usage)).toEqual({ [H1]: 6, [H2]: 24, [NEXT_DAY]: 32 });
    const rows = await b.usage.rows(H1, NEXT_DAY);
    const ofHour = (hour: string) => rows.filter((each) => each.hour === hour && each.tenant === 'acme');
    expect(ofHour(H2).map(({ counts }) => counts.uncertainMs)).toEqual([UNCERTAIN_MS]);
    expect(ofHour(H1).map(({ counts }) => counts.uncertainMs)).toEqual([0]);
    // To the byte.
    expect(ofHour(H1).map(({ counts }) => counts.storageByteSeconds)).toEqual([2 ** 53]);
    await expect(a.usage.save([], false)).rejects.toThrow('given this one up');
  });

  it('counts an append once that the engine has answered, and the client library has sent again', async () => {
    const { url } = await engineForTest();
    const engine = await Engine.connect({ url });
    onTestFinished(() => engine.close());
    const membership = new Membership(engine, 'a');
    await membership.join();
    const usage = new ValkeyUsage(engine, membership);
    const run = engine.run.bind(engine);
    engine.run = async (...call: Parameters<Engine['run']>) => {
      await run(...call);
      return await run(...call);
    };
    await usage.append([row(H1, 'acme', 1)]);
    await usage.append([row(H1, 'acme', 2)]);
    expect(await countsOf(usage)).toEqual({ [H1]: 3 });
  });
});
