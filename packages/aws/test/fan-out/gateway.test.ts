import { describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { subscribe } from '../../../../test/support/text-client.ts';
import type { Attempt } from '../support/fake-gateway.ts';
import { never, World } from '../support/fan-out.ts';

const STAYS = { clean: false, properties: { sessionExpiryInterval: 3_600 } };

const ofWorkers = ({ by }: Attempt) => by !== 'door';

/** The gateway refuses posts to these, and says that their connections are there. */
function refuseAll(world: World, ids: readonly string[]): void {
  world.gateway.answer = ({ connectionId }) => (ids.includes(connectionId) ? 'throttled' : 'sent');
  world.gateway.status = () => ({ lastActiveAtMs: world.time.nowMs });
}

describe('a client that does not read', () => {
  it('misses QoS 0 messages after a fraction of a second, and stays; all others are served meanwhile', async () => {
    const world = await World.create();
    const [, slow = '', ...others] = await world.subscribers(12, { qos: 0 });
    refuseAll(world, [slow]);
    await world.publish(['a', 'b']);
    const worker = world.process({ limits: { sliceSubscribersMax: 3 } });
    const beganMs = world.time.nowMs;
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(world.time.nowMs - beganMs).toBeLessThan(1_500);
    for (const id of others) expect(world.gateway.textsTo(id)).toEqual(['a', 'b']);
    expect(worker.counts).toMatchObject([{ dropped: 2, closed: 0, deliveries: 20 }]);
    expect(world.gateway.deleted).toEqual([]);
    world.gateway.answer = () => 'sent';
    await world.publish(['c']);
    await worker.work(world.queue.receive());
    expect(world.gateway.textsTo(slow)).toEqual(['c']);
  });

  it('delays no other: later slices are posted before its last try', async () => {
    const world = await World.create();
    const [, slow = ''] = await world.subscribers(13, { qos: 1 });
    refuseAll(world, [slow]);
    await world.publish(['a']);
    await world.process({ limits: { sliceSubscribersMax: 3 } }).work(world.queue.receive());
    const order = world.gateway.attempts.filter(ofWorkers).map(({ connectionId }) => connectionId);
    expect(order.filter((id) => id === slow).length).toBeGreaterThan(2);
    const lastOther = order.findLastIndex((id) => id !== slow);
    const tries = order.flatMap((id, index) => (id === slow ? [index] : []));
    expect(tries.filter((index) => index > lastOther).length).toBeGreaterThanOrEqual(tries.length - 2);
  });

  it('is not waited for again in the next batches, while it misses QoS 0 messages', async () => {
    const world = await World.create();
    const [, slow = ''] = await world.subscribers(3, { qos: 0 });
    refuseAll(world, [slow]);
    const worker = world.process();
    const triesOf = async (text: string) => {
      const before = world.gateway.attempts.length;
      await world.publish([text], { qos: 0 });
      await worker.work(world.queue.receive());
      return world.gateway.attempts.slice(before).filter(({ connectionId }) => connectionId === slow).length;
    };
    expect(await triesOf('a')).toBeGreaterThan(3);
    expect(await triesOf('b')).toBe(1);
    world.time.nowMs += 60_000;
    expect(await triesOf('c')).toBeGreaterThan(3);
  });

  it('is closed when it would miss more, and its session, which ends with it, is gone', async () => {
    const world = await World.create();
    const [, slow = '', other = ''] = await world.subscribers(3);
    refuseAll(world, [slow]);
    await world.publish(['a']);
    const worker = world.process();
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(world.gateway.deleted).toEqual([slow]);
    expect(await world.stores.sessions.get('default', slow)).toBeUndefined();
    expect(worker.counts).toMatchObject([{ closed: 1, dropped: 0 }]);
    await world.publish(['b']);
    await worker.work(world.queue.receive());
    expect(world.gateway.attempts.filter(({ packets }) => packets[0]?.text === 'b')).not.toContainEqual(
      expect.objectContaining({ connectionId: slow }),
    );
    expect(world.gateway.textsTo(other)).toEqual(['a', 'b']);
  });

  it('and has a persistent session is closed too, and fetches the missed messages when it is back', async () => {
    const world = await World.create();
    await world.subscribers(1);
    const slow = await world.connect({ clientId: 'slow', ...STAYS });
    await world.frame(slow, subscribe('wide', { qos: 1 }));
    refuseAll(world, [slow]);
    const worker = world.process();
    await world.publish(['a', 'b']);
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(world.gateway.deleted).toEqual([slow]);
    await world.publish(['c']);
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(world.gateway.textsTo(slow)).toEqual([]);
    expect(await world.returns('slow')).toEqual({ present: true, queue: ['a', 'b', 'c'] });
  });

  it('gets the messages of its other filter behind those, when it reads again in time', async () => {
    const world = await World.create();
    await world.subscribers(1, {}, {}, '+');
    const [, slow = ''] = await world.subscribers(3);
    await world.frame(slow, { ...subscribe('+', { qos: 1 }), properties: { subscriptionIdentifier: 7 } });
    await world.publish(['a']);
    let tries = 0;
    world.gateway.answer = ({ connectionId }) =>
      connectionId === slow && ++tries < 3 ? 'throttled' : 'sent';
    const worker = world.process();
    const records = world.queue.receive();
    expect(records.map(({ body }) => JSON.parse(body).topicFilter).sort()).toEqual(['+', 'wide']);
    expect(await worker.failuresOf(records)).toEqual([]);
    const filters = records.map(({ body }) => (JSON.parse(body).topicFilter === '+' ? 7 : undefined));
    const got = world.gateway.packetsTo(slow);
    expect(got.map(({ subscriptionIdentifier }) => subscriptionIdentifier)).toEqual(filters);
    expect(worker.counts).toMatchObject([{ throttled: 2, dropped: 0, closed: 0 }]);
  });
});

describe('a client whose window is full while a post to it is tried again', () => {
  it('has no message in its queue before that post has left: its PUBACK of an older one would dequeue a newer one', async () => {
    const world = await World.create();
    await world.subscribers(2);
    await world.subscribers(2, {}, {}, '+');
    const properties = { ...STAYS.properties, receiveMaximum: 1 };
    const slow = await world.connect({ clientId: 'slow', ...STAYS, properties });
    for (const filter of ['wide', '+']) await world.frame(slow, subscribe(filter, { qos: 1 }));
    const record = await world.stores.sessions.get('default', 'slow');
    if (record === undefined) throw new Error('expected a session');
    const waitingWhenTried: Promise<number>[] = [];
    world.gateway.answer = ({ connectionId, by, packets }) => {
      // A nudge comes after the append.
      if (connectionId !== slow || by === 'door' || packets.length === 0) return 'sent';
      waitingWhenTried.push(world.stores.queues.length(record.session));
      return waitingWhenTried.length < 3 ? 'throttled' : 'sent';
    };
    world.gateway.status = () => ({ lastActiveAtMs: world.time.nowMs });
    await world.publish(['a']);
    expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
    expect(await Promise.all(waitingWhenTried)).toEqual([0, 0, 0]);
    expect(await world.stores.queues.length(record.session)).toBe(1);
  });
});

describe('a connection to which an abandoned worker may still be posting a QoS 2 message', () => {
  it('is closed before the repeated slice is posted, and not only at the end of its batch [MQTT-4.4.0-1]', async () => {
    const world = await World.create();
    await world.subscribers(3);
    const slow = await world.connect({ clientId: 'slow', ...STAYS });
    await world.frame(slow, subscribe('wide', { qos: 2 }));
    await world.publish(['a'], { qos: 2 });
    const records = world.queue.receive();
    world.gateway.answer = ({ connectionId }) => (connectionId === slow ? never() : 'sent');
    void world.process({ name: 'given up' }).work(records);
    await vi.waitFor(
      () => expect(world.gateway.attempts.map(({ connectionId }) => connectionId)).toContain(slow),
      { timeout: PATIENCE_MS },
    );
    const wasOver: boolean[] = [];
    world.gateway.answer = ({ by }) => {
      if (by === 'successor') wasOver.push(world.gateway.deleted.includes(slow));
      return 'sent';
    };
    expect(await world.process({ name: 'successor' }).failuresOf(records)).toEqual([]);
    expect(wasOver).toEqual([true, true]);
    expect(await world.stores.links.load(slow)).toMatchObject({ phase: 'closed' });
    expect(world.gateway.textsTo(slow)).toEqual([]);
    expect(await world.returns('slow')).toEqual({ present: true, queue: ['a'] });
  });
});

describe('a throttled account', () => {
  it('slows the worker down, and all subscribers get every message within the time', async () => {
    const world = await World.create();
    const all = await world.subscribers(40);
    await world.publish(['a']);
    world.gateway.status = () => 'unknown';
    // The gateway takes twenty posts a second for all connections together.
    let tokens = 0;
    let filledAtMs = world.time.nowMs;
    world.gateway.answer = () => {
      tokens = Math.min(10, tokens + ((world.time.nowMs - filledAtMs) * 20) / 1_000);
      filledAtMs = world.time.nowMs;
      if (tokens < 1) return 'throttled';
      tokens -= 1;
      return 'sent';
    };
    const worker = world.process({ limits: { sliceSubscribersMax: 10 } });
    let waiting = world.queue.receive();
    for (let round = 0; waiting.length > 0; round += 1) {
      expect(round).toBeLessThan(20);
      const failures = await worker.failuresOf(waiting);
      waiting = waiting.filter(({ messageId }) => failures.includes(messageId));
    }
    for (const id of all) expect(new Set(world.gateway.textsTo(id))).toEqual(new Set(['a']));
    expect(world.gateway.deleted).toEqual([]);
    expect(world.deadLetters.entries).toEqual([]);
  });

  it('closes no connection, and hands back jobs that it cannot do, to come again after a moment', async () => {
    const world = await World.create();
    const all = await world.subscribers(30);
    await world.publish(['a']);
    const records = world.queue.receive();
    world.gateway.answer = () => 'throttled';
    const worker = world.process({ limits: { sliceSubscribersMax: 10 } });
    expect(await worker.failuresOf(records)).toEqual(['message-0']);
    expect(worker.givenBack).toEqual([{ messageIds: ['message-0'], afterSeconds: 3 }]);
    expect(worker.counts).toMatchObject([{ handedBack: 1, closed: 0, dropped: 0, deliveries: 0 }]);
    expect(world.gateway.deleted).toEqual([]);
    world.gateway.answer = () => 'sent';
    expect(await world.process().failuresOf(records)).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a']);
  });

  it('drops QoS 0 messages of a slice that it has claimed, and no others', async () => {
    const world = await World.create();
    const all = await world.subscribers(30, { qos: 0 });
    await world.publish(['a']);
    const records = world.queue.receive();
    world.gateway.answer = () => 'throttled';
    const worker = world.process({ limits: { sliceSubscribersMax: 10 } });
    const failures = await worker.failuresOf(records);
    const [counts] = worker.counts;
    world.gateway.answer = () => 'sent';
    await world.process({ limits: { sliceSubscribersMax: 10 } }).work(failures.length === 0 ? [] : records);
    const got = all.filter((id) => world.gateway.textsTo(id).length === 1);
    expect(counts?.dropped).toBeLessThanOrEqual(20);
    expect(got).toHaveLength(30 - (counts?.dropped ?? 0));
  });

  it('returns to an open slice after its connections have been tried again', async () => {
    const world = await World.create();
    const all = await world.subscribers(11);
    const [, first = ''] = all;
    await world.publish(['a']);
    const records = world.queue.receive();
    // Only one is refused, and the gateway does not say that it is there: neither slow nor served.
    world.gateway.answer = ({ connectionId }) => (connectionId === first ? 'throttled' : 'sent');
    world.gateway.status = () => 'unknown';
    const worker = world.process({ limits: { sliceSubscribersMax: 2 } });
    expect(await worker.failuresOf(records)).toEqual(['message-0']);
    expect(world.gateway.deleted).toEqual([]);
    world.gateway.answer = () => 'sent';
    const successor = world.process({ limits: { sliceSubscribersMax: 2 } });
    expect(await successor.failuresOf(records)).toEqual([]);
    for (const id of all) expect(new Set(world.gateway.textsTo(id))).toEqual(new Set(['a']));
    expect(successor.counts).toMatchObject([{ slices: 0 }]);
    expect(world.deadLetters.entries).toEqual([]);
  });
});

describe('a post that fails', () => {
  it('is not repeated at QoS 0: it may have arrived', async () => {
    const world = await World.create();
    await world.subscribers(1);
    const [zero = ''] = await world.subscribers(1, { qos: 0 });
    const [one = ''] = await world.subscribers(1, { qos: 1 });
    await world.publish(['a']);
    let failed = 0;
    world.gateway.answer = () => (++failed <= 2 ? 'failed' : 'sent');
    const worker = world.process();
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(world.gateway.attempts.filter(({ connectionId }) => connectionId === zero)).toHaveLength(1);
    expect(world.gateway.textsTo(one)).toEqual(['a']);
    expect(worker.counts).toMatchObject([{ dropped: 1 }]);
  });

  it('is repeated without the QoS 0 messages in it', async () => {
    const world = await World.create();
    const [, one = ''] = await world.subscribers(2, { qos: 1 });
    const publisher = await world.connect();
    await world.publishFrom(publisher, ['a'], { qos: 0 });
    await world.publishFrom(publisher, ['b'], { qos: 1 });
    await world.publishFrom(publisher, ['c'], { qos: 0 });
    let failed = 0;
    world.gateway.answer = () => (++failed <= 1 ? 'failed' : 'sent');
    await world.process().work(world.queue.receive());
    const tries = world.gateway.attempts.filter(
      ({ connectionId, by }) => connectionId === one && by !== 'door',
    );
    expect(tries.map(({ packets }) => packets.map(({ text }) => text))).toEqual([['a', 'b', 'c'], ['b']]);
  });

  it('is repeated at QoS 0 when it never reached the gateway', async () => {
    const world = await World.create();
    const [, zero = ''] = await world.subscribers(2, { qos: 0 });
    await world.publish(['a']);
    let failed = 0;
    world.gateway.answer = () => (++failed <= 2 ? 'unsent' : 'sent');
    await world.process().work(world.queue.receive());
    expect(world.gateway.textsTo(zero)).toEqual(['a']);
  });
});

describe('a connection that is gone', () => {
  it('is lost: its session ends, the others are served, and no worker posts to it again', async () => {
    const world = await World.create();
    const [, gone = '', ...others] = await world.subscribers(8);
    world.gateway.answer = ({ connectionId }) => (connectionId === gone ? 'gone' : 'sent');
    const worker = world.process({ limits: { sliceSubscribersMax: 3 } });
    await world.publish(['a']);
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(await world.stores.sessions.get('default', gone)).toBeUndefined();
    expect(worker.counts).toMatchObject([{ gone: 1, closed: 0 }]);
    const tries = world.gateway.attempts.filter(({ connectionId }) => connectionId === gone).length;
    await world.publish(['b']);
    await worker.work(world.queue.receive());
    expect(world.gateway.attempts.filter(({ connectionId }) => connectionId === gone)).toHaveLength(tries);
    for (const id of others) expect(world.gateway.textsTo(id)).toEqual(['a', 'b']);
  });

  it('of a persistent session leaves the unsent messages in the queue', async () => {
    const world = await World.create();
    await world.subscribers(1);
    const gone = await world.connect({ clientId: 'gone', ...STAYS });
    await world.frame(gone, subscribe('wide', { qos: 1 }));
    world.gateway.answer = ({ connectionId }) => (connectionId === gone ? 'gone' : 'sent');
    await world.publish(['a', 'b']);
    expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
    expect((await world.stores.sessions.get('default', 'gone'))?.attachment).toBeUndefined();
    expect(await world.returns('gone')).toEqual({ present: true, queue: ['a', 'b'] });
  });

  it('is one of many that went together: all are lost, and the batch is done', async () => {
    const world = await World.create();
    const all = await world.subscribers(60);
    const gone = all.filter((_, index) => index % 2 === 1);
    world.gateway.answer = ({ connectionId }) => (gone.includes(connectionId) ? 'gone' : 'sent');
    await world.publish(['a']);
    const worker = world.process();
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    for (const id of gone) expect(await world.stores.sessions.get('default', id)).toBeUndefined();
    expect(worker.counts).toMatchObject([{ gone: 30, deliveries: 29 }]);
  });
});
