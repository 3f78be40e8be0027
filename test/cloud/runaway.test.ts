import { type Authenticator, GATEWAY_QUOTAS, type QuotaScopes, type RateQuotas } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import { PUBLISH } from '@apus/door/testing';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { sized } from '../support/runs.ts';
import { Flood } from './flood.ts';
import type { CloudWorldOptions } from './options.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

// A deployment with all of its functions, in one process.
vi.setConfig({ testTimeout: 120_000 });

/** The throttle of a deployment's stage, and what its breaker allows (infra/lib/defaults.ts). */
const STAGE = { requestsPerSecond: 500, requestsBurst: 1_000 };
const MESSAGES_PER_MINUTE_MAX = 100_000;

const CUT_MS_MAX = 5_000;
/** Half a minute of a flood in CI. */
const FLOOD_SECONDS = sized(8, 30);
/** The breaker counts by the minute: CI plays a whole minute, other machines a fifth of one. */
const COUNTED_SECONDS = sized(12, 60);
const MINUTES = sized(1, 2);
/** More than the stage allows. */
const FLOOD_PER_SECOND = 700;
/** All limits and rates are a tenth, since four floods take long. */
const SCALE = 10;
/** Nearly the quota of an identity, so that its own quotas stop none. */
const BUSY_PER_SECOND = 90 / SCALE;
const SCALED_QUOTAS: QuotaScopes = {
  identity: scaled(GATEWAY_QUOTAS.identity),
  tenant: scaled(GATEWAY_QUOTAS.tenant),
  broker: scaled(GATEWAY_QUOTAS.broker),
};

function scaled<T extends RateQuotas>(quotas: T): T {
  const entries = Object.entries(quotas).map(([name, quota]) => [name, quota / SCALE]);
  return Object.fromEntries(entries) as unknown as T;
}

/** The names of the clients of an identity: `mallory-1`, `mallory-2`. */
const AUTHENTICATOR: Authenticator = {
  authenticate: ({ clientId }) => ({ tenant: 'default', name: clientId.split('-')[0] ?? '' }),
};

const FLOOD_PUBLISH = { ...PUBLISH, topic: 'flood' };

describe('one identity that floods a deployment', () => {
  let time: VirtualTime;
  let world: InProcessWorld;
  const clients: mqtt.MqttClient[] = [];

  async function start(
    gatewayLimits: CloudWorldOptions['gatewayLimits'],
    quotas = GATEWAY_QUOTAS,
  ): Promise<void> {
    world = await time.during(
      startCloudInProcess({
        seed: 7,
        ...(gatewayLimits && { gatewayLimits }),
        quotas,
        authenticator: AUTHENTICATOR,
      }),
    );
  }

  beforeEach(() => {
    time = new VirtualTime(7);
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.end(true);
    await time.advance(1_000);
    world.stop();
    time.restore();
    expect(world.failures).toEqual([]);
  });

  function open(clientId: string): mqtt.MqttClient {
    const client = connectInTextFrames(
      mqtt,
      world.emulator.url,
      { protocolVersion: 5, clientId },
      { WebSocket: world.emulator.WebSocket, page: {} },
    );
    client.on('error', () => {});
    clients.push(client);
    return client;
  }

  /** Publishes a message every `everyMs`, and returns how long each acknowledgement took, in ms. */
  async function honestLatencies(
    client: mqtt.MqttClient,
    seconds: number,
    everyMs = 1_000,
  ): Promise<number[]> {
    const latencies: number[] = [];
    for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += everyMs) {
      const startMs = Date.now();
      client.publish('honest', 'x', { qos: 1 }, (error) => {
        if (error === undefined || error === null) latencies.push(Date.now() - startMs);
      });
      await time.advance(everyMs);
    }
    return latencies;
  }

  function messages(): number {
    const { messages: counted } = world.emulator.counters.snapshot();
    return counted.in.count + counted.replies.count + counted.posts.count + counted.errors.count;
  }

  it('is cut within five seconds with 0x96, again and again, and the others go on [SEC-QUOTA-2]', async () => {
    await start(STAGE);
    const honest = open('honest-1');
    await time.advance(2_000);
    const alone = await honestLatencies(honest, 10);
    const flood = new Flood(world.emulator, {
      clientId: 'mallory-1',
      framesPerSecond: FLOOD_PER_SECOND,
      packet: FLOOD_PUBLISH,
    });
    await time.advance(CUT_MS_MAX);
    expect(flood.connections[0]?.closedAtMs).toBeDefined();
    expect(flood.connections[0]?.reasonCode).toBe(0x96);

    const before = world.emulator.counters.snapshot().messages.in.count;
    const beside = await honestLatencies(honest, FLOOD_SECONDS);
    const frames = world.emulator.counters.snapshot().messages.in.count - before;
    for (const { openedAtMs, closedAtMs = Date.now() } of flood.connections)
      expect(closedAtMs - openedAtMs).toBeLessThan(CUT_MS_MAX);
    // The quota is a hundred a second.
    expect(frames).toBeLessThan(FLOOD_SECONDS * 150);
    expect(beside).toHaveLength(FLOOD_SECONDS);
    expect(percentile(beside, 0.99)).toBeLessThanOrEqual(2 * percentile(alone, 0.99));
    flood.stop();
  });

  it('cannot trip the breaker [SEC-QUOTA-3]', async () => {
    // Without a throttle: another limit has to stop the client.
    await start({});
    for (let count = 0; count < 3; count += 1) {
      const subscriber = open(`subscriber-${count}`);
      await time.advance(2_000);
      subscriber.subscribe('flood');
    }
    await time.advance(10_000);
    world.emulator.counters.reset();
    const flood = new Flood(world.emulator, {
      clientId: 'mallory-1',
      framesPerSecond: FLOOD_PER_SECOND,
      packet: FLOOD_PUBLISH,
    });
    await time.advance(COUNTED_SECONDS * 1_000);
    expect(messages()).toBeLessThan(((COUNTED_SECONDS / 60) * MESSAGES_PER_MINUTE_MAX) / 2);
    flood.stop();
  });

  it('cannot trip the breaker with three others, and a client that sends little goes on beside them [SEC-QUOTA-3]', async () => {
    await start({}, SCALED_QUOTAS);
    for (let count = 0; count < 4; count += 1) {
      const subscriber = open(`subscriber-${count}`);
      await time.advance(2_000);
      subscriber.subscribe('flood');
    }
    const honest = open('honest-1');
    await time.advance(10_000);
    const alone = await honestLatencies(honest, 30, SCALE * 1_000);
    world.emulator.counters.reset();
    const floods = ['ada', 'bob', 'eve', 'mallory'].map((name) => {
      const clientId = `${name}-1`;
      const rate = { framesPerSecond: BUSY_PER_SECOND, returnMs: SCALE * 100 };
      return new Flood(world.emulator, { clientId, ...rate, packet: FLOOD_PUBLISH });
    });
    for (let minute = 0; minute < MINUTES; minute += 1) {
      const beside = await honestLatencies(honest, 60, SCALE * 1_000);
      expect(messages()).toBeLessThan(MESSAGES_PER_MINUTE_MAX / SCALE);
      expect(beside).toHaveLength(6);
      expect(percentile(beside, 0.99)).toBeLessThanOrEqual(2 * percentile(alone, 0.99));
      world.emulator.counters.reset();
    }
    for (const flood of floods) flood.stop();
    await time.advance(30_000);
    const reformed = open('mallory-1');
    await time.advance(2_000);
    expect(reformed.connected).toBe(true);
    expect(await honestLatencies(reformed, 30, SCALE * 1_000)).toHaveLength(3);
  });

  it('reconnects by itself when it sends no more than it may', async () => {
    await start(STAGE);
    const flood = new Flood(world.emulator, {
      clientId: 'mallory-1',
      framesPerSecond: FLOOD_PER_SECOND,
      packet: FLOOD_PUBLISH,
    });
    await time.advance(10_000);
    flood.stop();
    await time.advance(20_000);
    const reformed = open('mallory-1');
    await time.advance(2_000);
    expect(reformed.connected).toBe(true);
    expect(await honestLatencies(reformed, 10)).toHaveLength(10);
  });
});

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
