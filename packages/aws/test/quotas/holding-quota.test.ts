import { type GivenQuotaScopes, NO_QUOTAS, type Quotas, type RetainedStore, withQuotas } from '@apus/broker';
import { messageOf, upTo } from '@apus/broker/samples';
import { type HeldChange, type HoldingAccount, isSampled, sampleFor } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../../test/support/text-client.ts';
import { SharedHoldingQuota } from '../../src/quotas/holding-quota.ts';
import { FakeTime } from '../support/fake-time.ts';
import { World } from '../support/fan-out.ts';
import { TimersWorld } from '../support/timers-world.ts';

const ACCEPTED = 'accepted';
const TURNED_AWAY = 'closed without a packet';

describe('the quota of connections and sessions in a deployment', () => {
  /** Connects, and answers what came of it. */
  async function attempt(world: World, username: string, fields: Fields = {}) {
    const connectionId = await world.connect({ username, ...fields });
    if (!world.gateway.deleted.includes(connectionId)) return { connectionId, outcome: ACCEPTED };
    expect(world.gateway.packetsTo(connectionId)).toEqual([]);
    return { connectionId, outcome: TURNED_AWAY };
  }
  const outcomeOf = async (...call: Parameters<typeof attempt>) => (await attempt(...call)).outcome;
  const identity = (quotas: Partial<Quotas>): { quotas: GivenQuotaScopes } => ({
    quotas: { identity: quotas },
  });

  it('closes a connection beyond the quota without CONNACK, and lets it in again when there is room [SEC-QUOTA-6]', async () => {
    const world = await World.create(identity({ connectionsMax: 2 }));
    const { connectionId } = await attempt(world, 'ada');
    await attempt(world, 'ada');
    expect(await outcomeOf(world, 'ada')).toBe(TURNED_AWAY);
    expect(await outcomeOf(world, 'bob')).toBe(ACCEPTED);
    await world.frame(connectionId, { cmd: 'disconnect' });
    // So long a holder that was full is not asked about.
    world.time.nowMs += 10_000;
    expect(await outcomeOf(world, 'ada')).toBe(ACCEPTED);
    expect(await outcomeOf(world, 'ada')).toBe(TURNED_AWAY);
  });

  it('gives a client the place of its own connection', async () => {
    const world = await World.create(identity({ connectionsMax: 2 }));
    await attempt(world, 'ada');
    await attempt(world, 'ada', { clientId: 'ada-1' });
    for (let count = 0; count < 5; count += 1)
      expect(await outcomeOf(world, 'ada', { clientId: 'ada-1' })).toBe(ACCEPTED);
    expect(await outcomeOf(world, 'ada', { clientId: 'ada-2' })).toBe(TURNED_AWAY);
  });

  it('covers sessions, and existing ones go on', async () => {
    const world = await World.create(identity({ sessionsMax: 2 }));
    const stays = (clientId: string) => ({
      clientId,
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    });
    for (const clientId of ['ada-1', 'ada-2']) {
      const { connectionId } = await attempt(world, 'ada', stays(clientId));
      await world.frame(connectionId, { cmd: 'disconnect' });
    }
    expect(await outcomeOf(world, 'ada', stays('ada-3'))).toBe(TURNED_AWAY);
    const { connectionId } = await attempt(world, 'ada', stays('ada-1'));
    expect(world.gateway.deleted).not.toContain(connectionId);
    await world.frame(connectionId, { cmd: 'disconnect', properties: { sessionExpiryInterval: 0 } });
    world.time.nowMs += 10_000;
    expect(await outcomeOf(world, 'ada', stays('ada-3'))).toBe(ACCEPTED);
  });

  it('covers a tenant', async () => {
    const world = await World.create({ quotas: { tenant: { connectionsMax: 2 } } });
    for (const name of ['ada', 'bob']) expect(await outcomeOf(world, `one/${name}`)).toBe(ACCEPTED);
    expect(await outcomeOf(world, 'one/eve')).toBe(TURNED_AWAY);
    expect(await outcomeOf(world, 'two/eve')).toBe(ACCEPTED);
  });
});

describe('the count of connections and sessions', () => {
  const MAXIMUM = 10_000;
  const ada = { identity: { tenant: 't', name: 'ada' }, clientId: 'c' };

  /** Environments over one table, which is a map. */
  function environments(count: number, identity: Partial<Quotas>) {
    const counts = new Map<string, { connections: number; sessions: number }>();
    const of = ({ kind, tenant, name }: HoldingAccount) => {
      const key = `${kind} ${tenant} ${name}`;
      const known = counts.get(key) ?? { connections: 0, sessions: 0 };
      counts.set(key, known);
      return known;
    };
    const calls = { writes: 0, reads: 0 };
    const holdings = {
      async change(account: HoldingAccount, what: HeldChange['of'], by: number) {
        calls.writes += 1;
        of(account)[what] += by;
        return of(account)[what];
      },
      async read(account: HoldingAccount) {
        calls.reads += 1;
        return { ...of(account), retainedMessages: 0, retainedBytes: 0 };
      },
      async askForCount() {},
    };
    const clock = new FakeTime();
    const quotas = withQuotas(NO_QUOTAS, { identity });
    const all = Array.from({ length: count }, () => new SharedHoldingQuota({ quotas, holdings, clock }));
    const held = async (index: number, id: string, by: 1 | -1) =>
      await all[index % count]?.held({ of: 'connections', id, by, ...ada });
    const isFull = async (index: number) => (await all[index % count]?.reserve(ada)) !== undefined;
    return { all, held, isFull, calls, counted: () => of({ kind: 'identity', tenant: 't', name: 'ada' }) };
  }
  /** As API Gateway names connections. */
  const idOf = (number: number) => Buffer.from(`${number * 7_919}-connection`).toString('base64');

  it('does not drift, however many come and go in whichever environment', async () => {
    const { held, counted, calls } = environments(7, { connectionsMax: MAXIMUM });
    for (let number = 0; number < 20_000; number += 1) {
      await held(number, idOf(number), 1);
      await held(number * 3, idOf(number), -1);
    }
    expect(counted().connections).toBe(0);
    // One in 64 of forty thousand.
    expect(calls.writes).toBeLessThan(1_000);
    expect(calls.writes).toBeGreaterThan(400);
  });

  it('is approximate: a burst exceeds a quota by less than its double [SEC-QUOTA-6]', async () => {
    const { held, isFull, counted } = environments(50, { connectionsMax: MAXIMUM });
    let accepted = 0;
    for (let number = 0; number < 3 * MAXIMUM; number += 1) {
      if (await isFull(number)) continue;
      accepted += 1;
      await held(number, idOf(number), 1);
    }
    expect(accepted).toBeGreaterThan(0.8 * MAXIMUM);
    expect(accepted).toBeLessThan(2 * MAXIMUM);
    expect(counted().connections / accepted).toBeCloseTo(1, 0);
  });

  it('of a small quota is exact, except for concurrent changes', async () => {
    const { held, isFull } = environments(50, { connectionsMax: 20 });
    let accepted = 0;
    for (let number = 0; number < 100; number += 1) {
      if (await isFull(number)) continue;
      accepted += 1;
      await held(number, idOf(number), 1);
    }
    expect(accepted).toBe(20);
  });

  it('is written for a fixed sample of connections', () => {
    expect([1, 127, 128, 1_000, 4_096, 1_000_000].map((maximum) => sampleFor(maximum, 64))).toEqual([
      1, 1, 2, 8, 64, 64,
    ]);
    const ids = Array.from({ length: 64_000 }, (_, number) => idOf(number));
    const share = ids.filter((id) => isSampled(id, 64)).length / ids.length;
    expect(share).toBeGreaterThan(0.9 / 64);
    expect(share).toBeLessThan(1.1 / 64);
  });
});

it('the sweep recounts a wrong number that has refused a client', async () => {
  const world = await TimersWorld.create();
  const quotas = { identity: { connectionsMax: 1 } };
  const start = () => world.process({ quotas });
  const { quotaHoldings } = start().cloud.stores;
  const account = { tenant: 'default', kind: 'client', name: 'lost' } as const;
  // A process has died between the end of a connection and its count.
  await quotaHoldings.change(account, 'connections', 1);
  expect(await world.connect('lost', {}, start())).toEqual([]);
  const kept = { tenant: 'default', kind: 'client', name: 'kept' } as const;
  await world.connect('kept', {}, start());
  await quotaHoldings.askForCount(kept);
  // The first pass finds the holders to count, and the second counts.
  for (const _ of ['first', 'second'])
    expect(await world.sweep(start())).toMatchObject({ isPassComplete: true });
  expect(await quotaHoldings.read(kept)).toMatchObject({ connections: 1, sessions: 1 });
  expect(await world.connect('lost-2', { clientId: 'lost' }, start())).toMatchObject([{ cmd: 'connack' }]);
});

it('the sweep counts anew what an identity has retained, where TTL has removed some of it [SEC-QUOTA-8]', async () => {
  const world = await TimersWorld.create();
  const { quotaHoldings, retained } = world.process({}).cloud.stores;
  const holder = { tenant: 'default', kind: 'identity', name: 'ada' } as const;
  const retain = async (stores: { retained: RetainedStore }, topic: string) =>
    await stores.retained.put('default', messageOf({ topic, retain: true }), {
      ...upTo(100),
      holder: { holder, messagesMax: 2, bytesMax: 10_000 },
    });
  // Two that TTL has removed.
  await quotaHoldings.add(holder, { retainedMessages: 2, retainedBytes: 600 });
  expect(await retain({ retained }, 'a')).toBe(false);
  // One pass finds the holders to count. Messages are read again for a client that was refused when an hour has passed.
  for (const hours of [0, 1]) {
    world.time.nowMs += hours * 3_600_000;
    expect(await world.sweep(world.process({}))).toMatchObject({ isPassComplete: true });
  }
  const later = world.process({}).cloud.stores;
  expect(await later.quotaHoldings.read(holder)).toMatchObject({ retainedMessages: 0, retainedBytes: 0 });
  expect([await retain(later, 'a'), await retain(later, 'b'), await retain(later, 'c')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await later.quotaHoldings.read(holder)).toMatchObject({ retainedMessages: 2 });
});
