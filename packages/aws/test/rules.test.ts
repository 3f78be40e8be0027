import { beforeEach, describe, expect, it } from 'vitest';
import { subscribe } from '../../../test/support/text-client.ts';
import { QueueUnavailable } from '../src/fan-out/job-queue.ts';
import { publishAll } from '../src/index.ts';
import { decodeRuleJob, type RuleJob } from '../src/rules/rule-job.ts';
import { FakeQueue } from './support/fake-queue.ts';
import { FakeTime } from './support/fake-time.ts';
import { type Process, World } from './support/fan-out.ts';

let world: World;
let queue: FakeQueue;
let isFull: boolean;
let door: Process;

beforeEach(async () => {
  world = await World.create();
  queue = new FakeQueue(new FakeTime());
  isFull = false;
  const filters = [
    { tenant: 'default', name: 'hot', filter: 'sensors/+/t' },
    { tenant: 'default', name: 'all', filter: 'sensors/#' },
    { tenant: 'other', name: 'theirs', filter: '#' },
  ];
  door = world.process({ name: 'door', rules: { filters, queue, backlog: { isFull: async () => isFull } } });
});

const publish = (connectionId: string, texts: readonly string[], topic: string, fields?: object) =>
  world.publishThrough(door, connectionId, texts, topic, fields && { ...fields });
const jobs = () => queue.entries.map(({ body }) => decodeRuleJob(body) as RuleJob);

describe('a message that a rule is for', () => {
  it('is in the queue of the rules, once for each, and its topic is a group of its rule', async () => {
    const connectionId = await world.connect();
    await publish(connectionId, ['1', '2'], 'sensors/1/t');
    await publish(connectionId, ['3'], 'sensors/2');
    expect(jobs().map((job) => [job?.rule.name, Buffer.from(job?.message.payload ?? []).toString()])).toEqual(
      [
        ['hot', '1'],
        ['all', '1'],
        ['hot', '2'],
        ['all', '2'],
        ['all', '3'],
      ],
    );
    const groups = queue.entries.map(({ fifo }) => fifo?.groupId);
    expect(groups[0]).toBe(groups[2]);
    expect(new Set(groups).size).toBe(3);
    expect(new Set(queue.entries.map(({ fifo }) => fifo?.deduplicationId)).size).toBe(5);
  });

  it('is there before it is posted, and before its publisher is answered', async () => {
    const subscriber = await world.connect();
    await world.frame(subscriber, subscribe('sensors/#', { qos: 1 }));
    const connectionId = await world.connect();
    let send: (() => void) | undefined;
    queue.send = () => new Promise((resolve) => (send = resolve));
    let isAnswered = false;
    const answer = publish(connectionId, ['x'], 'sensors/1').then(() => {
      isAnswered = true;
    });
    while (send === undefined) await new Promise(setImmediate);
    expect([isAnswered, world.gateway.textsTo(subscriber)]).toEqual([false, []]);
    send();
    await answer;
    expect(world.gateway.textsTo(subscriber)).toEqual(['x']);
  });

  it('is not acknowledged, and not posted, where the queue does not take it', async () => {
    const subscriber = await world.connect();
    await world.frame(subscriber, subscribe('sensors/#', { qos: 0 }));
    queue.send = async () => {
      throw new QueueUnavailable(4, 'away');
    };
    const message = {
      topic: 'sensors/1',
      payload: Buffer.from('x'),
      qos: 1,
      retain: false,
      properties: {},
    } as const;
    const {
      outcomes: [outcome],
    } = await publishAll(door.cloud.environment, [{ tenant: 'default', ...message }], {
      getRemainingTimeInMillis: () => 29_000,
    });
    expect(outcome).toBeInstanceOf(QueueUnavailable);
  });

  it.each([
    [1, 'puback'],
    [2, 'pubrec'],
  ] as const)(
    'is refused at QoS %i with 0x97 where the queue is full, reaches no subscriber, and its publisher goes on',
    async (qos, cmd) => {
      const subscriber = await world.connect();
      await world.frame(subscriber, subscribe('sensors/#', { qos: 1 }));
      isFull = true;
      const connectionId = await world.connect();
      expect(await publish(connectionId, ['x'], 'sensors/1', { qos })).toMatchObject([
        { cmd, reasonCode: 0x97 },
      ]);
      expect([world.gateway.textsTo(subscriber), jobs()]).toEqual([[], []]);
      expect(await publish(connectionId, ['x'], 'other', { qos })).toMatchObject([{ cmd, reasonCode: 0x10 }]);
    },
  );

  it('ends the connection where a repetition at QoS 2 meets a full queue, as subscribers may have the first one inflight', async () => {
    const kept = { clientId: 'kept', clean: false, properties: { sessionExpiryInterval: 60 } };
    const repetition = { qos: 2, dup: true };
    const first = await world.connect(kept);
    const send = queue.send.bind(queue);
    queue.send = async () => {
      throw new QueueUnavailable(4, 'away');
    };
    await publish(first, ['x'], 'sensors/1', { qos: 2 });
    queue.send = send;
    isFull = true;
    const second = await world.connect(kept);
    expect(await publish(second, ['x'], 'sensors/1', repetition)).toEqual([]);
    expect(world.gateway.packetsTo(second)).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x97 }]);
    isFull = false;
    const third = await world.connect(kept);
    expect(await publish(third, ['x'], 'sensors/1', repetition)).toMatchObject([
      { cmd: 'pubrec', reasonCode: 0x10 },
    ]);
    expect(jobs()).toHaveLength(1);
  });
});

it('a message that no rule is for costs nothing, and is never compared with rules of other tenants', async () => {
  let asked = 0;
  const rules = { filters: [{ tenant: 'other', name: 'theirs', filter: '#' }], queue };
  const backlog = {
    isFull: async () => {
      asked += 1;
      return false;
    },
  };
  door = world.process({ name: 'door', rules: { ...rules, backlog } });
  const connectionId = await world.connect();
  expect(await publish(connectionId, ['x'], 'anything')).toMatchObject([{ cmd: 'puback' }]);
  expect([asked, queue.entries]).toEqual([0, []]);
});
