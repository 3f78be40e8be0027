import { FILTER_SHAPES_OF_IDENTITY_MAX } from '@apus/store-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { publish } from '../../../../test/support/text-client.ts';
import { TimersWorld } from '../support/timers-world.ts';

const OVER = 0x97;
const HOUR_MS = 3_600_000;

/** A filter of seven levels for each number below 128, each of a shape of its own. All of them match `a/a/a/a/a/a/a`. */
const filterOf = (number: number, literal = 'a') =>
  [...number.toString(2).padStart(7, '0')].map((digit) => (digit === '1' ? '+' : literal)).join('/');

let world: TimersWorld;
let packetId = 0;

beforeEach(async () => {
  world = await TimersWorld.create();
});

/** Subscribes in frames of ten filters, and returns the reason codes. */
async function subscribeTo(client: string, filters: readonly string[]): Promise<number[]> {
  const codes: number[] = [];
  const process = world.process();
  for (let start = 0; start < filters.length; start += 10) {
    packetId += 1;
    const subscriptions = filters.slice(start, start + 10).map((topic) => ({ topic, qos: 0 }));
    const packet = { cmd: 'subscribe', messageId: packetId, subscriptions };
    const [suback] = await world.frame(process, client, packet);
    codes.push(...(suback as unknown as { granted: number[] }).granted);
  }
  return codes;
}

const filters = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => filterOf(from + index));
const granted = (codes: readonly number[]) => codes.filter((code) => code !== OVER).length;

/** A pass of the sweep over the sessions, and over the messages if they are due. */
async function sweepAfter(ms: number): Promise<void> {
  world.time.nowMs += ms;
  expect(await world.sweep()).toMatchObject({ isPassComplete: true, failed: 0 });
}

describe('the filter shapes of a tenant in a deployment', () => {
  it('leave others theirs: one client brings a share of them, in whatever frames [SEC-POOL-3]', async () => {
    await world.connect('greedy');
    const codes = await subscribeTo('greedy', filters(0, 70));
    expect(granted(codes)).toBe(FILTER_SHAPES_OF_IDENTITY_MAX);
    // Shapes that are there are open to all clients, and others have shares of their own.
    expect(granted(await subscribeTo('greedy', [filterOf(0, 'b'), filterOf(1, 'b')]))).toBe(2);
    await world.connect('honest');
    expect(granted(await subscribeTo('honest', filters(70, 80)))).toBe(10);
    const process = world.process();
    const before = process.cloud.stores.meter.units;
    await world.frame(process, 'honest', publish('a/a/a/a/a/a/a', 'x', { qos: 0 }));
    expect(process.cloud.stores.meter.since(before).reads).toBeLessThan(30);
  });

  it('are given back when no session subscribes to them any more [SEC-POOL-4]', async () => {
    for (const client of ['one', 'two', 'three']) {
      await world.connect(client);
      await subscribeTo(client, filters(0, 64));
    }
    await world.connect('kept', { clean: false, properties: { sessionExpiryInterval: 100_000 } });
    await subscribeTo('kept', filters(48, 64));
    await world.connect('honest');
    expect(await subscribeTo('honest', [filterOf(64)])).toEqual([OVER]);
    for (const client of ['one', 'two', 'three']) await world.disconnect(client, 1000);
    const full = async (client: string) => {
      await world.connect(client);
      return granted(await subscribeTo(client, filters(64, 67)));
    };
    // The first pass finds the request, the second one shapes without a subscription, the third one removes them.
    await sweepAfter(HOUR_MS);
    expect(await full('early')).toBe(0);
    await sweepAfter(HOUR_MS);
    await sweepAfter(HOUR_MS);
    expect(await full('late')).toBe(3);
    // Shapes of a session that is away stay.
    const { subscriptions } = world.process().cloud.stores;
    const matched = await subscriptions.match('default', 'a/a/a/a/a/a/a');
    expect(matched.length).toBe(16 + 3);
  });
});
