import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '@apus/loadtest/measure';
import { describe, expect, it, onTestFinished } from 'vitest';
import { outcomeOf } from '../../src/report/outcome.ts';
import { brokerForTest, type Door, type EngineRun, type Metrics, runFlowForTest } from './support.ts';

const DOORS: readonly Door[] = ['node', 'gateway'];

function outcome({ engine }: EngineRun) {
  return outcomeOf([engine.recorder.ledger()]);
}

/** The number of pairs: a subscriber and a publisher of ten messages each. */
const pairs = (count: number, qos: 0 | 1 | 2) => [
  {
    roles: [
      {
        name: 'subscriber',
        users: count,
        flow: [
          { connect: {} },
          { subscribe: { topics: 'pair/{{ $place }}', qos } },
          { barrier: { name: 'ready', users: count * 2 } },
          { expect: { messages: 10 } },
          { barrier: { name: 'received', users: count * 2 } },
        ],
      },
      {
        name: 'publisher',
        users: count,
        flow: [
          { connect: {} },
          { barrier: { name: 'ready', users: count * 2 } },
          { publish: { topic: 'pair/{{ $place }}', qos, bytes: 64, perSecond: 100, messages: 10 } },
          { barrier: { name: 'received', users: count * 2 } },
        ],
      },
    ],
  },
];

describe.each(DOORS)('the engine at the %s door', (door) => {
  it.each([0, 1, 2] as const)('delivers everything once and in order: QoS %i, three pairs', async (qos) => {
    const node = await brokerForTest();
    const run = await runFlowForTest(node, pairs(3, qos), { users: 6, door });
    expect(run.errors).toEqual([null, null, null, null, null, null]);
    expect(run.metrics.errors).toEqual([]);
    expect(outcome(run).deliveries).toMatchObject({
      expected: 30,
      received: 30,
      lost: 0,
      duplicates: 0,
      outOfOrder: 0,
      unexpected: 0,
    });
    expect(outcome(run).publishes).toMatchObject({ sent: 30, acknowledged: qos === 0 ? 0 : 30 });
    expect(outcome(run).connections).toMatchObject({ asked: 6, connected: 6, lost: 0 });
    expect(run.metrics.started).toBe(6);
    expect(run.metrics.counters).toMatchObject({
      'mqtt.connected': 6,
      'mqtt.subscribed': 3,
      'mqtt.messages_sent': 30,
      'mqtt.messages_received': 30,
    });
    expect(run.metrics.histograms['mqtt.delivery_ms']).toHaveLength(30);
    expect(run.metrics.histograms['mqtt.connect_ms']).toHaveLength(6);
    expect(run.metrics.histograms['mqtt.acknowledge_ms']?.length ?? 0).toBe(qos === 0 ? 0 : 30);
  });

  it('speaks MQTT 3.1.1', async () => {
    const node = await brokerForTest();
    const run = await runFlowForTest(node, pairs(1, 1), { users: 2, door, mqtt: { version: '3.1.1' } });
    expect(run.errors).toEqual([null, null]);
    expect(outcome(run).deliveries).toMatchObject({ expected: 10, received: 10 });
  });

  it('counts frames only with text frames', async () => {
    const node = await brokerForTest();
    const run = await runFlowForTest(node, pairs(1, 1), { users: 2, door });
    const { frames } = run.engine.recorder.ledger();
    await node.gateway?.emulator.quiet();
    const { messages } = node.gateway?.emulator.counters.snapshot() ?? {};
    expect(frames?.framesSent).toBe(door === 'node' ? undefined : messages?.in.billed);
  });
});

describe('steps', () => {
  it('publish: topics and payloads are templates; expect reads the payload, and captures it', async () => {
    const node = await brokerForTest();
    const flow = [
      { connect: { clientId: 'me-{{ $uuid }}' } },
      { subscribe: { topics: ['a/+', 'b'] } },
      { publish: { topic: 'a/{{ $uuid }}', payload: 'hello {{ $uuid }}' } },
      { expect: { topic: 'a/+', payload: 'hello {{ $uuid }}', capture: 'heard', within: 5 } },
      { publish: { topic: 'b', payload: { n: 1 }, measure: false } },
      { expect: { topic: 'b', measured: false, capture: 'raw' } },
    ];
    const run = await runFlowForTest(node, flow);
    expect(run.errors).toEqual([null]);
    expect(run.contexts[0]?.vars).toMatchObject({ heard: 'hello user-0', raw: '{"n":1}' });
    // A message without a header is not of the run.
    expect(outcome(run).deliveries).toMatchObject({ expected: 1, received: 1, foreign: 1 });
  });

  it('expect: a user without its message fails, and the report says which error', async () => {
    const node = await brokerForTest();
    const flow = [{ connect: {} }, { subscribe: { topics: 'a' } }, { expect: { messages: 2, within: 0.05 } }];
    const run = await runFlowForTest(node, flow);
    expect(run.errors[0]?.message).toBe('0 of 2 messages on # came within 0.05 s');
    expect(run.metrics.errors).toEqual(['mqtt.expect_timeout']);
    expect(run.metrics.counters['mqtt.messages_missing']).toBe(2);
  });

  it('loop: by count, and over a list', async () => {
    const node = await brokerForTest();
    const flow = [
      { connect: {} },
      { subscribe: { topics: '#' } },
      { loop: [{ publish: { topic: 'count/{{ $loopCount }}' } }], count: 3 },
      { loop: [{ publish: { topic: 'over/{{ $loopElement }}' } }], over: ['x', 'y'] },
      { expect: { messages: 5 } },
    ];
    const run = await runFlowForTest(node, flow);
    expect(run.errors).toEqual([null]);
    const topics = run.engine.recorder.ledger().published.map(({ topic }) => topic);
    expect(topics).toEqual(['count/0', 'count/1', 'count/2', 'over/x', 'over/y']);
  });

  it('unsubscribe, disconnect and connect again', async () => {
    const node = await brokerForTest();
    const flow = [
      { connect: {} },
      { subscribe: { topics: 'a' } },
      { unsubscribe: { topics: 'a' } },
      { publish: { topic: 'a', qos: 1 } },
      'disconnect',
      { connect: {} },
      { publish: { topic: 'a', qos: 1 } },
      { disconnect: { abruptly: true } },
    ];
    const run = await runFlowForTest(node, flow);
    expect(run.errors).toEqual([null]);
    expect(outcome(run)).toMatchObject({
      connections: { connected: 2, lost: 0 },
      publishes: { sent: 2, acknowledged: 2 },
      deliveries: { expected: 0, received: 0 },
    });
  });

  it('roles are exact, in the order in which users come; users beyond them do nothing', async () => {
    const node = await brokerForTest();
    const role = (name: string, users: number) => ({
      name,
      users,
      flow: [{ connect: { clientId: `${name}-{{ $place }}` } }],
    });
    const run = await runFlowForTest(node, [{ roles: [role('a', 2), role('b', 1)] }], { users: 5 });
    const roles = run.contexts.map(({ vars }) => `${vars.$role} ${vars.$place}`);
    expect(roles).toEqual(['a 0', 'a 1', 'b 0', 'undefined undefined', 'undefined undefined']);
    expect(outcome(run).connections.connected).toBe(3);
  });

  it('barrier: no user passes before all have come; a failed user does not hold up the others', async () => {
    const node = await brokerForTest();
    const order: string[] = [];
    const note = (name: string) => (_context: unknown, _events: unknown) => void order.push(name);
    const processor = {
      before: note('before'),
      after: note('after'),
      fail: async () => Promise.reject(new Error('no')),
    };
    const flow = [
      {
        roles: [
          {
            name: 'steady',
            users: 2,
            flow: [
              { function: 'before' },
              { barrier: { name: 'gate', users: 3, within: 10 } },
              { function: 'after' },
            ],
          },
          { name: 'failing', users: 1, flow: [{ think: 0.05 }, { function: 'fail' }] },
        ],
      },
    ];
    const run = await runFlowForTest(node, flow, { users: 3, config: { processor } });
    expect(order).toEqual(['before', 'before', 'after', 'after']);
    expect(run.errors.map((error) => error?.message)).toEqual([undefined, undefined, 'no']);
    expect(run.metrics.errors).toEqual(['mqtt.unexpected']);
  });

  it('barrier: after its time a user goes on, and that is counted', async () => {
    const node = await brokerForTest();
    const run = await runFlowForTest(node, [{ barrier: { name: 'gate', users: 2, within: 0.02 } }]);
    expect(run.errors).toEqual([null]);
    expect(run.metrics.errors).toEqual(['mqtt.barrier_timeout']);
  });

  it('drain waits until nothing comes any more', async () => {
    const node = await brokerForTest();
    const flow = [
      { connect: {} },
      { subscribe: { topics: 'a' } },
      { publish: { topic: 'a', perSecond: 100, messages: 5 } },
      { drain: { silence: 0.1 } },
    ];
    const run = await runFlowForTest(node, flow);
    expect(outcome(run).deliveries).toMatchObject({ expected: 5, received: 5 });
  });
});

describe('failures', () => {
  it('a broker that is not there', async () => {
    const node = await brokerForTest();
    await node.stop();
    const run = await runFlowForTest(node, [{ connect: {} }]);
    expect(run.metrics.errors).toEqual(['mqtt.connect_econnrefused']);
    expect(outcome(run).connections).toMatchObject({ asked: 1, connected: 0 });
  });

  it('a connection that the broker refuses', async () => {
    const node = await brokerForTest({ clientIdLengthMax: 10 });
    const run = await runFlowForTest(node, [{ connect: { clientId: 'much-too-long' } }]);
    // 0x85 Client Identifier not valid
    expect(run.metrics.errors).toEqual(['mqtt.connect_133']);
    expect(outcome(run).connections).toMatchObject({ asked: 1, connected: 0 });
  });

  it('a connection that is lost is counted, and messages due then are not sent', async () => {
    const node = await brokerForTest();
    const stop = async (_context: unknown, { counters }: Metrics): Promise<void> => {
      await node.stop();
      while (counters['mqtt.connections_lost'] === undefined) await new Promise(setImmediate);
    };
    const flow = [{ connect: {} }, { function: 'stop' }, { publish: { topic: 'a', qos: 1 } }];
    const run = await runFlowForTest(node, flow, { config: { processor: { stop } } });
    expect(run.errors).toEqual([null]);
    expect(outcome(run)).toMatchObject({ connections: { lost: 1 }, publishes: { sent: 0, notSent: 1 } });
    expect(run.metrics.counters['mqtt.connections_lost']).toBe(1);
  });

  it.each<[string, unknown[], object, RegExp]>([
    [
      'an unknown step',
      [{ fly: {} }],
      {},
      /flow\[0\] has no step that this engine knows \(connect, subscribe/,
    ],
    ['a step with the name of an inherited member', ['constructor'], {}, /flow\[0\] is no step/],
    ['a step that is text', ['fly'], {}, /flow\[0\] is no step: "fly"/],
    ['a field that is misspelled', [{ publish: { topic: 'a', qoss: 1 } }], {}, /publish has no field "qoss"/],
    ['a QoS of 3', [{ subscribe: { topics: 'a', qos: 3 } }], {}, /"qos" is one of 0, 1, 2, not 3/],
    ['no topic', [{ publish: {} }], {}, /"topic" is text and has to be given/],
    ['a loop without an end', [{ loop: [] }], {}, /"count" or "over" is given/],
    ['a role without users', [{ roles: [{ name: 'a', flow: [] }] }], {}, /"users" is given/],
    [
      'a step within a role',
      [{ roles: [{ name: 'a', users: 1, flow: [{ fly: 1 }] }] }],
      {},
      /flow\[0\]\.roles\[0\]\[0\]/,
    ],
    ['a function that is not there', [{ function: 'x' }], {}, /the processor has no function "x"/],
    ['a version', [], { version: '4' }, /"version" is one of 3\.1\.1, 5, not "4"/],
    ['a setting', [], { qos: 1 }, /config\.engines\.mqtt has no field "qos"/],
  ])('%s stops the test before it begins', async (_name, flow, mqtt, sentence) => {
    const node = await brokerForTest({ gatewayPort: undefined });
    await expect(runFlowForTest(node, flow, { mqtt })).rejects.toThrow(sentence);
  });

  it('a target that is no broker stops the test before it begins', async () => {
    const node = await brokerForTest({ gatewayPort: undefined });
    const config = { target: 'http://example.test' };
    await expect(runFlowForTest(node, [], { config })).rejects.toThrow(/config\.target is a URL as ws:/);
  });
});

describe('ledgers', () => {
  function folderForTest(): string {
    const folder = mkdtempSync(join(tmpdir(), 'apus-engine-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  }

  it('are written when the last virtual user has finished', async () => {
    const node = await brokerForTest();
    const ledgers = join(folderForTest(), 'ledgers');
    await runFlowForTest(node, pairs(1, 1), { users: 2, mqtt: { ledgers, runTag: 77 } });
    const [name, ...more] = readdirSync(ledgers);
    expect(more).toEqual([]);
    const ledger = JSON.parse(readFileSync(join(ledgers, name ?? ''), 'utf8')) as Ledger;
    expect(ledger.runTag).toBe(77);
    expect(outcomeOf([ledger]).deliveries).toMatchObject({ expected: 10, received: 10 });
  });

  it('are written when a file requests it, and all users disconnect', async () => {
    const node = await brokerForTest();
    const ledgers = folderForTest();
    const flow = [
      { connect: {} },
      { subscribe: { topics: 'a', qos: 1 } },
      { publish: { topic: 'a', qos: 1 } },
      { expect: {} },
      { function: 'stop' },
      { publish: { topic: 'a', qos: 1, perSecond: 1, messages: 1_000 } },
    ];
    const processor = { stop: () => writeFileSync(join(ledgers, 'stop'), '') };
    const run = await runFlowForTest(node, flow, { mqtt: { ledgers }, config: { processor } });
    expect(run.metrics.errors).toEqual([]);
    const [name] = readdirSync(ledgers).filter((each) => each.endsWith('.json'));
    expect(existsSync(join(ledgers, name ?? ''))).toBe(true);
    const ledger = JSON.parse(readFileSync(join(ledgers, name ?? ''), 'utf8')) as Ledger;
    expect(ledger.connections).toMatchObject({ connected: 1, lost: 0, problems: {} });
    expect(outcomeOf([ledger]).deliveries.lost).toBe(0);
  });
});
