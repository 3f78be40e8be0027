import { ReasonCode } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import { World } from '../support/fan-out.ts';

/** So that 12 deliveries are a lot, and 3 are free. */
const PER_MINUTE = 1_500;
const FREE = 3;
const LOT = 12;

describe('the deliveries of one publisher', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.create({ deliveriesPerMinuteMax: PER_MINUTE });
  });

  /** Write units that these frames take, beside what the connections cost. */
  async function unitsOf(act: () => Promise<unknown>): Promise<number> {
    const before = world.stores.meter.units;
    await act();
    return world.stores.meter.since(before).writes;
  }

  async function oneToOne(): Promise<string> {
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    return await world.connect();
  }

  it('cost nothing as long as they are few', async () => {
    const publisher = await oneToOne();
    const writes = await unitsOf(async () => {
      for (let count = 0; count < FREE; count += 1) {
        const [puback] = await world.publishFrom(publisher, ['text'], { qos: 1 }, 'one');
        expect(puback).toMatchObject({ cmd: 'puback', reasonCode: ReasonCode.Success });
      }
    });
    expect(writes).toBe(0);
  });

  it('are then charged in lots, with a write for each lot', async () => {
    const publisher = await oneToOne();
    const texts = Array.from({ length: FREE + 2 * LOT }, (_, index) => `text ${index}`);
    const writes = await unitsOf(() => world.publishFrom(publisher, texts, { qos: 1 }, 'one'));
    // The second lot finds the debt that the first has begun.
    expect(writes).toBe(2);
  });

  it('are refused beyond the limit: 0x97 at QoS 1 and 2, dropped and counted at QoS 0', async () => {
    const [subscriber = ''] = await world.subscribers(1, { qos: 2 }, {}, 'one');
    const publisher = await world.connect();
    const texts = Array.from({ length: FREE + PER_MINUTE }, () => 'ok');
    await world.publishFrom(publisher, texts, { qos: 0 }, 'one');
    expect(world.gateway.textsTo(subscriber)).toHaveLength(FREE + PER_MINUTE);
    expect(world.counted('IdentitiesLimited')).toBe(0);

    const writes = await unitsOf(async () => {
      const [puback] = await world.publishFrom(publisher, ['more'], { qos: 1 }, 'one');
      expect(puback).toMatchObject({ cmd: 'puback', reasonCode: ReasonCode.QuotaExceeded });
    });
    // The last lot has told how long there is no more.
    expect(writes).toBe(0);
    const [pubrec] = await world.publishFrom(publisher, ['more'], { qos: 2 }, 'one');
    expect(pubrec).toMatchObject({ cmd: 'pubrec', reasonCode: ReasonCode.QuotaExceeded });
    await world.publishFrom(publisher, ['more'], { qos: 0 }, 'one');
    expect(world.counted('IdentitiesLimited')).toBe(3);
    expect(world.gateway.textsTo(subscriber)).not.toContain('more');
  });

  it('are available again as the minute passes, at the rate of the limit', async () => {
    const [subscriber = ''] = await world.subscribers(1, { qos: 1 }, {}, 'one');
    const publisher = await world.connect();
    const send = (count: number) => world.publishFrom(publisher, Array(count).fill('x'), { qos: 0 }, 'one');
    await send(FREE + PER_MINUTE + LOT);
    const burst = world.gateway.textsTo(subscriber).length;
    expect(burst).toBe(FREE + PER_MINUTE);
    for (let second = 0; second < 120; second += 1) {
      world.time.nowMs += 1_000;
      await send(PER_MINUTE / 10);
    }
    const perMinute = (world.gateway.textsTo(subscriber).length - burst) / 2;
    expect(perMinute).toBeGreaterThan(PER_MINUTE * 0.95);
    expect(perMinute).toBeLessThanOrEqual(PER_MINUTE + FREE + LOT);
  });

  it('are bounded over all processes together', async () => {
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    const identity = { username: 'somebody' };
    const doors = Array.from({ length: 10 }, () => world.process({ deliveriesPerMinuteMax: PER_MINUTE }));
    const connectionIds: string[] = [];
    for (let index = 0; index < doors.length; index += 1) connectionIds.push(await world.connect(identity));
    let accepted = 0;
    for (let round = 0; round < 8; round += 1) {
      for (const [index, door] of doors.entries()) {
        const answers = await world.publishThrough(
          door,
          connectionIds[index] ?? '',
          Array(25).fill('text'),
          'one',
        );
        accepted += answers.filter(({ reasonCode }) => reasonCode === ReasonCode.Success).length;
      }
    }
    expect(accepted).toBeLessThanOrEqual(PER_MINUTE + LOT + doors.length * FREE);
    // The others cannot use the rest of a lot that a process has taken.
    expect(accepted).toBeGreaterThan(PER_MINUTE - doors.length * LOT);
  });

  it('of a wide filter are those of its audience, counted once', async () => {
    world = await World.create({ deliveriesPerMinuteMax: 450 });
    const audience = 30;
    await world.subscribers(audience + 1);
    const publisher = await world.connect();
    const codes: (number | undefined)[] = [];
    const reads: number[] = [];
    for (let count = 0; count < 17; count += 1) {
      const before = world.stores.meter.units;
      const [puback] = await world.publishFrom(publisher, ['text']);
      reads.push(world.stores.meter.since(before).calls);
      codes.push(puback?.reasonCode);
    }
    // 31 deliveries each: the fifteenth is begun below 450, and the debt is paid by those after it.
    expect(codes).toEqual([
      ...Array(15).fill(ReasonCode.Success),
      ...Array(2).fill(ReasonCode.QuotaExceeded),
    ]);
    expect(reads[0]).toBeGreaterThan(reads[1] ?? 0);
    expect(reads[2]).toBe(reads[1]);
  });

  it('of a filter with several shards are about those of all of them', async () => {
    const perMinute = 450;
    world = await World.create({ deliveriesPerMinuteMax: perMinute, shardSubscribers: 12 });
    const audience = 60;
    await world.subscribers(audience + 1);
    const publisher = await world.connect();
    let accepted = 0;
    while ((await world.publishFrom(publisher, ['text']))[0]?.reasonCode === ReasonCode.Success)
      accepted += 1;
    expect(accepted * audience).toBeGreaterThan(perMinute * 0.6);
    expect(accepted * audience).toBeLessThan(perMinute * 1.6);
  });

  it('may exceed the limit once, or no client could publish to a topic with more subscribers', async () => {
    world = await World.create({ deliveriesPerMinuteMax: 10 });
    await world.subscribers(21);
    const publisher = await world.connect();
    const publishOne = async () => (await world.publishFrom(publisher, ['text']))[0]?.reasonCode;
    expect(await publishOne()).toBe(ReasonCode.Success);
    expect(await publishOne()).toBe(ReasonCode.QuotaExceeded);
    // 21 deliveries are 126 seconds of ten a minute.
    world.time.nowMs += 65_000;
    expect(await publishOne()).toBe(ReasonCode.QuotaExceeded);
    world.time.nowMs += 1_001;
    expect(await publishOne()).toBe(ReasonCode.Success);
  });

  it('are those of an identity, for all of its client identifiers', async () => {
    world = await World.create({ deliveriesPerMinuteMax: 5 });
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    const codes: (number | undefined)[] = [];
    for (let index = 0; index < 3; index += 1) {
      const publisher = await world.connect({ username: 'somebody' });
      const answers = await world.publishFrom(publisher, ['a', 'b'], { qos: 1 }, 'one');
      codes.push(...answers.map(({ reasonCode }) => reasonCode));
    }
    expect(codes.filter((code) => code === ReasonCode.Success)).toHaveLength(5);
    const anonymous = await world.connect();
    const [answer] = await world.publishFrom(anonymous, ['a'], { qos: 1 }, 'one');
    expect(answer?.reasonCode).toBe(ReasonCode.Success);
  });

  it('close a connection of MQTT 3.1.1, which has no reason codes: its client sends again', async () => {
    world = await World.create({ deliveriesPerMinuteMax: 1 });
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    const publisher = await world.connect({ protocolVersion: 4 });
    await world.publishFrom(publisher, ['a'], { qos: 1 }, 'one');
    expect(world.gateway.deleted).toEqual([]);
    await world.publishFrom(publisher, ['b'], { qos: 1 }, 'one');
    expect(world.gateway.deleted).toEqual([publisher]);
  });
});
