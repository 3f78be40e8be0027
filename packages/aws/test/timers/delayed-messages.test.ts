import { beforeEach, describe, expect, it } from 'vitest';
import { publish } from '../../../../test/support/text-client.ts';
import { decodeTimer } from '../../src/timers/message.ts';
import { Kill, TimersWorld } from '../support/timers-world.ts';

const DAY_SECONDS = 24 * 60 * 60;

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
  await world.connect('publisher');
  await world.connect('subscriber');
  await world.subscribe('subscriber', 'news/#', 1);
});

const texts = () => world.gateway.textsTo('subscriber');
const publishDelayed = (seconds: number, text: string, fields = {}, process = world.process()) =>
  world.frame(
    process,
    'publisher',
    publish(`$delayed/${seconds}/news/a`, text, { qos: 1, messageId: 1, ...fields }),
  );

describe('a message of $delayed/SECONDS/TOPIC in a deployment', () => {
  it('is acknowledged when it is in the queue, and comes to the subscribers of its topic when it is due', async () => {
    const [puback] = await publishDelayed(30, 'later');
    expect([puback?.cmd, puback?.reasonCode ?? 0, world.queue.length]).toEqual(['puback', 0, 1]);
    await world.advance(29);
    expect(texts()).toEqual([]);
    await world.advance(1);
    expect(texts()).toEqual(['later']);
    expect(world.queue.length).toBe(0);
  });

  it('takes several hops where it is due later than SQS can delay it', async () => {
    await publishDelayed(2_000, 'later');
    await world.advance(1_999);
    expect(texts()).toEqual([]);
    await world.advance(1);
    expect(texts()).toEqual(['later']);
    expect(world.queue.sent.map(({ delaySeconds }) => delaySeconds)).toEqual([900, 900, 200]);
  });

  it('is refused with 0x97 where the queue does not take it', async () => {
    const process = world.process();
    world.queue.send = async () => {
      const { QueueUnavailable } = await import('../../src/fan-out/job-queue.ts');
      throw new QueueUnavailable(4, 'away');
    };
    expect(await publishDelayed(30, 'later', {}, process)).toMatchObject([
      { cmd: 'puback', reasonCode: 0x97 },
    ]);
  });

  it('is retained when it is due, and not before', async () => {
    await publishDelayed(30, 'kept', { retain: true });
    await world.connect('early');
    await world.subscribe('early', 'news/a', 0);
    expect(world.gateway.textsTo('early')).toEqual([]);
    await world.advance(30);
    await world.connect('late');
    const packet = { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'news/a', qos: 0 }] };
    const reply = await world.frame(world.process(), 'late', packet);
    expect(reply.slice(1)).toMatchObject([{ text: 'kept', retain: true }]);
  });

  it('does not come when its publisher was banned while it waited [SEC-WAY-2]', async () => {
    await publishDelayed(30, 'banned');
    const ban = { as: 'clientid', who: 'publisher', tenant: 'default', by: '', reason: '', atMs: 0 } as const;
    expect(await world.process().cloud.stores.bans.add(ban)).toBe(true);
    await world.advance(60);
    expect([texts(), world.queue.length]).toEqual([[], 0]);
  });

  it('does not come when it has expired', async () => {
    await publishDelayed(30, 'old', { properties: { messageExpiryInterval: 10 } });
    await world.advance(60);
    expect([texts(), world.queue.length]).toEqual([[], 0]);
  });

  it('of a banned client leaves the queue at its next hop, and does not come [SEC-POOL-2]', async () => {
    await publishDelayed(4_294_967, 'never');
    expect(world.queue.length).toBe(1);
    const ban = { as: 'clientid', who: 'publisher', tenant: 'default', by: '', reason: '', atMs: 0 } as const;
    expect(await world.process().cloud.stores.bans.add(ban)).toBe(true);
    await world.advance(900);
    expect([world.queue.length, world.queue.sent.length]).toEqual([0, 1]);
  });

  it.each(['$delayed/soon/news/a', '$delayed/5/$SYS/x', '$delayed/4294968/news/a'])(
    'is refused as %s',
    async (topic) => {
      const packet = publish(topic, 'x', { qos: 1, messageId: 1 });
      expect(await world.frame(world.process(), 'publisher', packet)).toMatchObject([{ reasonCode: 0x90 }]);
    },
  );

  it('comes at least once when the process is killed at any step', async () => {
    let steps = 0;
    for (let hasStruck = true; hasStruck; steps += 1) {
      const kill = new Kill(steps + 1);
      await publishDelayed(5, `killed at ${steps}`);
      let isFirst = true;
      // The timer comes again when its visibility timeout of 180 s ends.
      await world.advance(190, () => {
        const process = world.process(isFirst ? { kill } : {});
        isFirst = false;
        return process;
      });
      expect(texts()).toContain(`killed at ${steps}`);
      hasStruck = kill.hasStruck;
    }
    expect(steps).toBeGreaterThan(5);
    expect(world.queue.length).toBe(0);
  });
});

describe('the publisher of a delayed message', () => {
  it('is charged for the hops when it is taken', async () => {
    const process = world.process({ quotas: { identity: { writesPerMinuteMax: 200 } } });
    // A day is 96 hops, of two writes each: the first makes a debt of a minute.
    expect(await publishDelayed(DAY_SECONDS, 'one', {}, process)).toMatchObject([{ cmd: 'puback' }]);
    await publishDelayed(DAY_SECONDS, 'two', {}, process);
    const [refused] = await publishDelayed(DAY_SECONDS, 'three', {}, process);
    expect(refused?.reasonCode).toBe(0x97);
    world.time.nowMs += 120_000;
    const [taken] = await publishDelayed(DAY_SECONDS, 'four', {}, process);
    expect(taken?.reasonCode ?? 0).toBe(0);
  });

  it('is known when it is due, for the deliveries', async () => {
    await publishDelayed(30, 'later');
    expect(decodeTimer(world.queue.sent[0]?.body ?? '')).toMatchObject({
      kind: 'delayed',
      tenant: 'default',
      publisher: { identity: { tenant: 'default', name: '' }, clientId: 'publisher' },
    });
  });
});
