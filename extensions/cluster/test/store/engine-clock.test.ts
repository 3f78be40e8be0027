import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Engine, LEASE_MS, Membership, ValkeyRates } from '../../src/store/index.ts';

const HOUR_MS = 3_600_000;

const program = engineOrSkip();

describe("a step of the engine's clock", needs('engine', program), () => {
  let process: TestEngine;
  let engine: Engine;
  let runs = 0;

  beforeAll(async () => {
    process = await startEngine(program, ['--appendonly', 'no']);
  });

  afterAll(async () => {
    engine.close();
    await process.stop();
  });

  async function fresh(): Promise<Engine> {
    runs += 1;
    engine?.close();
    engine = await Engine.connect({ url: process.url, name: `clock-${runs}` });
    return engine;
  }

  /** Processes of one separate cluster. */
  async function members() {
    await fresh();
    const names = ['a', 'b', 'c'] as const;
    const joined = names.map((name) => new Membership(engine, name));
    for (const membership of joined) await membership.join();
    return joined as [Membership, Membership, Membership];
  }

  const leaseEndsInMs = async (name: string) => {
    const [seconds = 0, micros = 0] = await engine.client.time();
    const score = await engine.client.zscore(engine.key('members'), name);
    return Number(score) - (Number(seconds) * 1_000 + Number(micros) / 1_000);
  };

  /** Leases that were taken before the clock stepped, so that they end later by so much. */
  async function delayLeases(ms: number, ...names: readonly string[]): Promise<void> {
    for (const name of names) await engine.client.zincrby(engine.key('members'), ms, name);
  }

  it('forward ends the lease of no living process', async () => {
    const [a, b, c] = await members();
    await delayLeases(-HOUR_MS, 'a', 'b', 'c');
    for (const membership of [a, b, c]) expect(await membership.renew()).toEqual([]);
    expect(await a.reap('b')).toBeUndefined();
  });

  it('forward leaves an ended lease ended', async () => {
    const [a, b] = await members();
    await b.expire();
    await delayLeases(-HOUR_MS, 'a', 'c');
    expect(await a.renew()).toEqual(['b']);
  });

  it.each([2_000, HOUR_MS])('back by %i ms does not make the lease of a dead process last', async (ms) => {
    const [a] = await members();
    await delayLeases(ms, 'a', 'b', 'c');
    expect(await a.renew()).toEqual([]);
    for (const name of ['a', 'b', 'c']) expect(await leaseEndsInMs(name)).toBeLessThanOrEqual(LEASE_MS);
  });

  it('is not seen where one process of several is dead', async () => {
    const [a] = await members();
    await delayLeases(-LEASE_MS - 1, 'c');
    expect(await a.renew()).toEqual(['c']);
    expect(await a.reap('c')).toBeDefined();
  });

  it.each([
    ['back by two seconds', 2_000, 1_010],
    ['back by an hour', HOUR_MS, 1_010],
    ['forward by 400 ms', -400, 610],
    ['forward by an hour', -HOUR_MS, 10],
  ])('%s becomes no debt', async (_, ms, mostMs) => {
    const rates = new ValkeyRates(await fresh());
    await rates.spend([{ key: 'k', costMs: 1_000 }]);
    const key = engine.key('debt', 'k');
    const [debt, at] = String(await engine.client.get(key)).split(' ');
    await engine.client.set(key, `${debt} ${Number(at) + ms}`);
    const [owedMs] = await rates.spend([{ key: 'k', costMs: 10 }]);
    expect(owedMs).toBeLessThanOrEqual(mostMs);
    expect(owedMs).toBeGreaterThanOrEqual(10);
  });
});
