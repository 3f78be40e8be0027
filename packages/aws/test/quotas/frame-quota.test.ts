import { GATEWAY_QUOTAS, type GivenQuotaScopes } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { subscribe } from '../../../../test/support/text-client.ts';
import { World } from '../support/fan-out.ts';

const PER_SECOND = 10;
/** Ten seconds' worth, and what an environment has free. */
const BURST = 10 * PER_SECOND + 1;
const FRAMES: GivenQuotaScopes = { identity: { framesPerSecondMax: PER_SECOND } };

/** Sends one frame after another until the connection is cut. Answers how many were taken. */
async function framesUntilCut(world: World, connectionId: string, most = 10_000): Promise<number> {
  for (let sent = 0; sent < most; sent += 1) {
    const [pong] = await world.frame(connectionId, { cmd: 'pingreq' });
    if (world.gateway.deleted.includes(connectionId)) return sent;
    expect(pong?.cmd).toBe('pingresp');
  }
  return most;
}

describe('the frames of one identity', () => {
  it('beyond its quota cut its connection, with 0x96', async () => {
    const world = await World.create({ quotas: FRAMES });
    const runaway = await world.connect({ username: 'runaway' });
    // Its connection was two.
    expect(await framesUntilCut(world, runaway)).toBe(BURST - 2);
    expect(world.gateway.packetsTo(runaway)).toMatchObject([
      { cmd: 'disconnect', reasonCode: ReasonCode.MessageRateTooHigh },
    ]);
    expect(world.counted('IdentitiesLimited')).toBe(1);
  });

  it('cut a client of MQTT 3.1.1 without a packet', async () => {
    const world = await World.create({ quotas: FRAMES });
    const runaway = await world.connect({ username: 'runaway', protocolVersion: 4 });
    await framesUntilCut(world, runaway);
    expect(world.gateway.packetsTo(runaway)).toEqual([]);
  });

  it('are those of all of its connections, and of no other identity', async () => {
    const world = await World.create({ quotas: FRAMES });
    const honest = await world.connect({ username: 'honest' });
    const runaway = await world.connect({ username: 'runaway' });
    await framesUntilCut(world, runaway);
    const another = await world.connect({ username: 'runaway' });
    expect(world.gateway.deleted).toContain(another);
    expect(await framesUntilCut(world, honest, 20)).toBe(20);
  });

  it('are bounded over all processes together', async () => {
    const world = await World.create({ quotas: FRAMES });
    const doors = Array.from({ length: 10 }, () => world.process({ quotas: FRAMES }));
    const connectionIds: string[] = [];
    for (const _ of doors) connectionIds.push(await world.connect({ username: 'runaway' }));
    let accepted = 0;
    for (let round = 0; round < 40; round += 1) {
      for (const [index, door] of doors.entries()) {
        const answers = await world.publishThrough(door, connectionIds[index] ?? '', ['x'], 'nobody');
        accepted += answers.length;
      }
    }
    // Each process has a frame free, and may lose what is left of a lot.
    expect(accepted).toBeLessThanOrEqual(BURST + 2 * doors.length);
    expect(accepted).toBeGreaterThan(BURST - 20 - 10 * doors.length);
  });

  it('are available again when its debt is worked off; until then its connections end before CONNACK', async () => {
    const world = await World.create({ quotas: FRAMES });
    const runaway = await world.connect({ username: 'runaway' });
    await framesUntilCut(world, runaway);
    const start = world.time.nowMs;
    let back = '';
    while (back === '') {
      world.time.nowMs += 1_000;
      const connectionId = await world.connect({ username: 'runaway' });
      if (!world.gateway.deleted.includes(connectionId)) back = connectionId;
      // mqtt.js does not come back after a CONNACK that refuses.
      else expect(world.gateway.packetsTo(connectionId).map(({ cmd }) => cmd)).not.toContain('connack');
    }
    const awayMs = world.time.nowMs - start;
    expect(awayMs).toBeGreaterThanOrEqual(10_000);
    expect(awayMs).toBeLessThanOrEqual(15_000);
    world.time.nowMs += 2_000;
    expect(await framesUntilCut(world, back, 20)).toBe(20);
  });

  it('of an address whose quota is known to be overdrawn are refused at the handshake: 429', async () => {
    const world = await World.create({ quotas: { identity: { framesPerSecondMax: 1 } } });
    expect(await world.handshake()).toBe(200);
    const anonymous = await world.connect({}, '192.0.2.7');
    await framesUntilCut(world, anonymous);
    expect(await world.handshake()).toBe(429);
    world.time.nowMs += 15_000;
    expect(await world.handshake()).toBe(200);
  });

  it('are charged by publishes and by bytes', async () => {
    const quotas = { identity: { publishesPerSecondMax: 10, bytesPerSecondMax: 1_000 } };
    const world = await World.create({ quotas });
    const many = await world.connect({ username: 'many' });
    await world.publishFrom(many, Array(99).fill(''), { qos: 0 }, 'nobody');
    expect(world.gateway.deleted).toEqual([]);
    await world.publishFrom(many, Array(99).fill(''), { qos: 0 }, 'nobody');
    await world.publishFrom(many, [''], { qos: 0 }, 'nobody');
    expect(world.gateway.deleted).toContain(many);
    const large = await world.connect({ username: 'large' });
    await world.publishFrom(large, ['x'.repeat(12_000)], { qos: 0 }, 'nobody');
    await world.publishFrom(large, ['x'], { qos: 0 }, 'nobody');
    expect(world.gateway.deleted).toContain(large);
  });

  it('of a tenant hold up no client of another', async () => {
    const world = await World.create({ quotas: { tenant: { framesPerSecondMax: PER_SECOND } } });
    const runaway = await world.connect({ username: 'one/runaway' });
    const stranger = await world.connect({ username: 'two/stranger' });
    await framesUntilCut(world, runaway);
    const sibling = await world.connect({ username: 'one/sibling' });
    await world.frame(sibling, { cmd: 'pingreq' });
    expect(world.gateway.deleted).toContain(sibling);
    expect(await framesUntilCut(world, stranger, 20)).toBe(20);
  });
});

describe('the cost of the quota of frames', () => {
  /** Write units of what `act` does, with the quotas of a deployment beyond those without. */
  async function unitsOf(act: (world: World) => Promise<void>): Promise<number> {
    const units: number[] = [];
    for (const quotas of [GATEWAY_QUOTAS, {}]) {
      const world = await World.create({ quotas });
      const before = world.stores.meter.units;
      await act(world);
      units.push(world.stores.meter.since(before).writes);
    }
    return (units[0] ?? 0) - (units[1] ?? 0);
  }

  it('is nothing for a client that sends a frame every six seconds', async () => {
    const act = async (world: World) => {
      const client = await world.connect({ username: 'somebody' });
      for (let second = 0; second < 300; second += 6) {
        world.time.nowMs += 6_000;
        await world.frame(client, { cmd: 'pingreq' });
      }
    };
    expect(await unitsOf(act)).toBe(0);
  });

  it('is less than a tenth of a unit for each connection of a fleet that shares an identity', async () => {
    const act = async (world: World) => {
      for (let count = 0; count < 100; count += 1) {
        world.time.nowMs += 100;
        await world.connect({ username: 'fleet' });
      }
    };
    expect((await unitsOf(act)) / 100).toBeLessThan(0.1);
  });

  it('is less than a tenth of a unit for each frame of a busy client', async () => {
    const act = async (world: World) => {
      const client = await world.connect({ username: 'busy' });
      for (let count = 0; count < 500; count += 1) {
        world.time.nowMs += 50;
        await world.frame(client, { cmd: 'pingreq' });
      }
    };
    expect((await unitsOf(act)) / 500).toBeLessThan(0.1);
  });
});

describe('the writes that one identity causes in the table', () => {
  const quotas: GivenQuotaScopes = { identity: { writesPerMinuteMax: 10 } };

  const filters = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ topic: `t/${index}`, qos: 0 }));

  it('are bounded: SUBSCRIBE is answered 0x97, and UNSUBSCRIBE 0x80 [SEC-QUOTA-4]', async () => {
    const world = await World.create({ quotas });
    const client = await world.connect({ username: 'somebody' });
    const subscribeTo = async (count: number) =>
      (await world.frame(client, { cmd: 'subscribe', messageId: 1, subscriptions: filters(count) }))[0];
    expect(await subscribeTo(6)).toMatchObject({ cmd: 'suback' });
    // As a message to a popular topic: it is taken as long as there is no debt of a minute.
    expect(await subscribeTo(6)).toMatchObject({ cmd: 'suback' });
    const before = world.stores.meter.units;
    const refused = await world.codesOf(client, {
      cmd: 'subscribe',
      messageId: 2,
      subscriptions: filters(2),
    });
    expect(refused).toEqual([ReasonCode.QuotaExceeded, ReasonCode.QuotaExceeded]);
    const unsubscribed = await world.codesOf(client, {
      cmd: 'unsubscribe',
      messageId: 3,
      unsubscriptions: ['t/0'],
    });
    expect(unsubscribed).toEqual([ReasonCode.UnspecifiedError]);
    expect(world.stores.meter.since(before).writes).toBe(0);
    world.time.nowMs += 30_000;
    expect(await world.codesOf(client, subscribe('t/9'))).toEqual([0]);
  });

  it('count kilobytes of retained messages too: 0x97 at QoS 1, and QoS 0 is delivered without being retained [SEC-QUOTA-4]', async () => {
    const world = await World.create({ quotas });
    const [subscriber = ''] = await world.subscribers(1, { qos: 1 }, {}, 'state');
    const client = await world.connect({ username: 'somebody' });
    const retain = async (text: string, qos: 0 | 1) =>
      (await world.publishFrom(client, [text], { qos, retain: true }, 'state'))[0]?.reasonCode;
    expect(await retain('x'.repeat(11_000), 1)).toBe(ReasonCode.Success);
    expect(await retain('more', 1)).toBe(ReasonCode.QuotaExceeded);
    await retain('live', 0);
    expect(world.gateway.textsTo(subscriber)).toContain('live');
    const late = await world.connect({ username: 'late' });
    const [, kept] = await world.frame(late, subscribe('state'));
    expect(kept?.text).toBe('x'.repeat(11_000));
    // A message that is not retained costs nothing of it.
    const [puback] = await world.publishFrom(client, ['live'], { qos: 1 }, 'state');
    expect(puback?.reasonCode).toBe(ReasonCode.Success);
  });
});
