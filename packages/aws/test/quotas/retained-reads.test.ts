import { GATEWAY_QUOTAS } from '@apus/broker';
import { messageOf, upTo } from '@apus/broker/samples';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fields } from '../../../../test/support/text-client.ts';
import type { ReceivedPacket } from '../support/fake-gateway.ts';
import { type Process, TimersWorld } from '../support/timers-world.ts';

vi.setConfig({ testTimeout: 120_000 });

const MESSAGES = 2_400;
const FETCH: Fields[] = [];

let world: TimersWorld;

const subscribe = (topics: readonly string[], messageId = 1): Fields => ({
  cmd: 'subscribe',
  messageId,
  subscriptions: topics.map((topic) => ({ topic, qos: 0 })),
});

/** Filters that lead through everything that is retained, and match none of it. */
const vain = Array.from({ length: 100 }, (_, number) => `+/none-${number}`);

beforeEach(async () => {
  world = await TimersWorld.create();
  const { retained } = world.process().cloud.stores;
  for (let number = 0; number < MESSAGES; number += 1) {
    const topic = `device/${String(number).padStart(4, '0')}`;
    const message = messageOf({ topic, retain: true, payload: Buffer.from(topic.padEnd(950)) });
    await retained.put('default', message, upTo(1e9));
  }
});

async function readsOf(process: Process, client: string, ...packets: Fields[]): Promise<number> {
  const before = process.cloud.stores.meter.units;
  await world.frame(process, client, ...packets);
  return process.cloud.stores.meter.since(before).reads;
}

describe('the retained messages of a SUBSCRIBE in a deployment', () => {
  it('are read within bounds for each frame, and for each identity by time [SEC-POOL-6]', async () => {
    const process = world.process({ quotas: GATEWAY_QUOTAS });
    await world.connect('greedy', {}, process);
    let reads = await readsOf(process, 'greedy', subscribe(vain));
    expect(reads).toBeLessThan(2_048 + 300);
    for (let frame = 0; frame < 40; frame += 1) reads += await readsOf(process, 'greedy', ...FETCH);
    // A minute's writes may come at once, and each is five reads.
    expect(reads).toBeGreaterThan(10_000);
    expect(reads).toBeLessThan(5 * GATEWAY_QUOTAS.identity.writesPerMinuteMax + 1_000);
    expect(await readsOf(process, 'greedy', ...FETCH)).toBeLessThan(5);
    // The next minute has as much again.
    world.time.nowMs += 60_000;
    for (let frame = 0; frame < 40; frame += 1) reads += await readsOf(process, 'greedy', ...FETCH);
    expect(reads).toBeLessThan(10 * GATEWAY_QUOTAS.identity.writesPerMinuteMax + 2_000);
  });

  it('come whole to others meanwhile, and to a client that asked for too much at last [SEC-POOL-6]', async () => {
    const process = world.process({ quotas: GATEWAY_QUOTAS });
    await world.connect('greedy', {}, process);
    await world.frame(process, 'greedy', subscribe([...vain, 'device/0007']));
    for (let frame = 0; frame < 40; frame += 1) await world.frame(process, 'greedy', ...FETCH);
    await world.connect('honest', {}, process);
    const topics = new Set<string>();
    const note = (packets: readonly ReceivedPacket[]) => {
      for (const { cmd, text } of packets) if (cmd === 'publish') topics.add(text.trim());
    };
    note(await world.frame(process, 'honest', subscribe(['device/#'])));
    for (let frame = 0; frame < 200; frame += 1) note(await world.frame(process, 'honest', ...FETCH));
    expect(topics.size).toBe(MESSAGES);
    topics.clear();
    for (let minute = 0; minute < 6; minute += 1) {
      world.time.nowMs += 60_000;
      for (let frame = 0; frame < 30; frame += 1) note(await world.frame(process, 'greedy', ...FETCH));
    }
    expect([...topics]).toEqual(['device/0007']);
  });
});
