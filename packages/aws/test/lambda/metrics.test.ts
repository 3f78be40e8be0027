import { beforeEach, describe, expect, it } from 'vitest';
import { publish, subscribe } from '../../../../test/support/text-client.ts';
import { meteredLog } from '../../src/lambda/metered-log.ts';
import type { Meter } from '../../src/metrics/meter.ts';
import { METRICS, OPTIONAL_METRICS } from '../../src/metrics/metric-names.ts';
import { World } from '../support/fan-out.ts';

describe('the counts of a deployment', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.create();
  });

  /** The messages counted in and out while `act` runs. */
  async function traffic(act: () => Promise<unknown>): Promise<{ in: number; out: number }> {
    const [inBefore, outBefore] = [world.counted(METRICS.messagesIn), world.counted(METRICS.messagesOut)];
    await act();
    return {
      in: world.counted(METRICS.messagesIn) - inBefore,
      out: world.counted(METRICS.messagesOut) - outBefore,
    };
  }

  it('are one for each PUBLISH that came and each that was posted, and none for other packets', async () => {
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    const publisher = await world.connect();
    expect(await traffic(() => world.publishFrom(publisher, ['a', 'b'], { qos: 1 }, 'one'))).toEqual({
      in: 2,
      out: 2,
    });
    expect(await traffic(() => world.frame(publisher, subscribe('else')))).toEqual({ in: 0, out: 0 });
  });

  it("include messages in a reply: a publisher's own copies, and retained ones", async () => {
    const client = await world.connect();
    await world.frame(client, subscribe('own'));
    expect(await traffic(() => world.publishFrom(client, ['a'], { qos: 0 }, 'own'))).toEqual({
      in: 1,
      out: 1,
    });
    await world.frame(client, publish('kept', 'text', { retain: true }));
    expect(await traffic(() => world.frame(client, subscribe('kept')))).toEqual({ in: 0, out: 1 });
  });

  it('exclude lost messages: those are counted as gone, or as dropped', async () => {
    const [gone = '', slow = ''] = await world.subscribers(2, { qos: 0 }, {}, 'one');
    world.gateway.answer = ({ connectionId }) => (connectionId === gone ? 'gone' : 'throttled');
    const worker = world.process();
    const publisher = await world.connect();
    expect(await traffic(() => world.publishFrom(publisher, ['a', 'b'], { qos: 0 }, 'one'))).toEqual({
      in: 2,
      out: 0,
    });
    expect(world.counted(METRICS.postsGone)).toBe(1);
    world.gateway.status = () => ({ lastActiveAtMs: 0 });
    await worker.work(world.queue.receive());
    expect(worker.counts[0]?.dropped).toBe(2);
    expect(world.gateway.deleted).not.toContain(slow);
  });

  it('have the wait of the oldest job of a batch, until it begins and until its posts are done', async () => {
    await world.subscribers(2);
    await world.publish(['text']);
    world.time.nowMs += 300;
    const worker = world.process();
    world.gateway.answer = async () => {
      world.time.nowMs += 200;
      return 'sent' as const;
    };
    await worker.work(world.queue.receive());
    expect(worker.counts).toMatchObject([{ lagMsMax: 300, latencyMsMax: 500 }]);
  });
});

describe('the events of the log that are metrics', () => {
  function counting() {
    const counted: [string, number][] = [];
    const lines: string[] = [];
    const meter: Meter = { add: (name, count = 1) => void counted.push([name, count]) };
    const write = (event: string) => void lines.push(event);
    const log = meteredLog({ debug: write, info: write, warn: write, error: write }, meter);
    return { log, counted, lines };
  }

  it.each([
    ['warn', 'token-refused', {}, METRICS.tokensRefused, 1],
    ['warn', 'messages-dropped', { count: 7 }, METRICS.messagesDropped, 7],
    ['warn', 'will-refused', {}, METRICS.messagesDropped, 1],
    ['warn', 'delayed-message-refused', {}, METRICS.messagesDropped, 1],
    ['error', 'conflated-not-sent', {}, METRICS.messagesDropped, 1],
    ['warn', 'gateway-call-failed', {}, METRICS.postsFailed, 1],
    ['info', 'post-failed', { outcome: 'gone', isLoss: true, packets: 3 }, METRICS.postsGone, 1],
    ['warn', 'post-failed', { outcome: 'failed', isLoss: false, packets: 3 }, METRICS.messagesDropped, 3],
    ['warn', 'post-failed', { outcome: 'throttled', isLoss: true, packets: 3 }, METRICS.postsFailed, 1],
    ['error', 'timer-failed', {}, OPTIONAL_METRICS.timersFailed, 1],
    ['warn', 'timer-put-off', {}, METRICS.unavailable, 1],
    ['error', 'fan-out-failed', { jobs: ['a', 'b'] }, OPTIONAL_METRICS.fanOutJobsFailed, 2],
    ['info', 'connect-timeout', {}, METRICS.connectTimeouts, 1],
    ['warn', 'unavailable', {}, METRICS.unavailable, 1],
    ['warn', 'frame-unavailable', {}, METRICS.unavailable, 1],
    ['warn', 'hook-unanswered', { count: 7 }, METRICS.unavailable, 7],
  ] as const)('at %s: %s %j', (level, event, fields, name, count) => {
    const { log, counted, lines } = counting();
    log[level](event, fields);
    expect(counted).toEqual([[name, count]]);
    expect(lines).toEqual([event]);
  });

  it('count a post of QoS 0 that is given up as failed, and its messages as dropped', () => {
    const { log, counted } = counting();
    log.warn('post-failed', { outcome: 'throttled', isLoss: false, packets: 3 });
    expect(counted).toEqual([
      [METRICS.postsFailed, 1],
      [METRICS.messagesDropped, 3],
    ]);
  });

  it('exclude messages that are sent again: a closed connection returns and receives them', () => {
    const { log, counted } = counting();
    log.warn('post-failed', { outcome: 'failed', isLoss: true, packets: 3 });
    log.info('connection-found-dead', {});
    expect(counted).toEqual([]);
  });
});

describe('messages that no client gets', () => {
  it.each(['failed', 'unsent', 'too-large', 'throttled'] as const)(
    'have a line each by a frame and by a worker, at a level that is written, and are counted: %s',
    async (outcome) => {
      const world = await World.create();
      await world.subscribers(2, { qos: 0 });
      world.gateway.answer = () => outcome;
      world.gateway.status = () => ({ lastActiveAtMs: 0 });
      const door = world.process();
      const publisher = await world.connect();
      await world.publishThrough(door, publisher, ['a'], 'wide', { qos: 0 });
      const worker = world.process();
      await worker.work(world.queue.receive());
      for (const { log } of [door, worker])
        expect(log.filter(({ level }) => level === 'warn')).not.toEqual([]);
      expect(world.counted(METRICS.messagesDropped)).toBe(2);
    },
  );
});
