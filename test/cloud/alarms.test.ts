import { BRIDGE_METRICS, METRICS, OPTIONAL_METRICS } from '@apus/aws/lambda';
import {
  alterStores,
  createUsageExport,
  failIfUnrepaired,
  type Hooks,
  meteredLog,
  type Process,
  PublishEndpoint,
  TimersWorld,
  World,
} from '@apus/aws/testing';
import { createIotCoreHandler, createKafkaHandler, createRulesHandler } from '@apus/bridges/testing';
import { describe, expect, it } from 'vitest';
import { Breaker } from '../../infra/functions/breaker.ts';
import { EVERY_ALARM, synthBroker } from '../../infra/test/support/synth.ts';
import { call, KEYS } from './api-caller.ts';
import { startCloudInProcess } from './start-cloud-in-process.ts';

/** What the metric of an alarm counts, in a run in which it has to rise. */
type Figure = () => Promise<number>;

const context = { getRemainingTimeInMillis: () => 30_000 };
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Counts calls. */
function counter() {
  let calls = 0;
  return {
    call: () => {
      calls += 1;
    },
    calls: () => calls,
  };
}
const fails = () => Promise.reject(new Error('no answer'));
const throttles = () => {
  throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
};

/** Lambda counts an invocation that rejects as an error. An answer is none, whatever it says. */
const errors = async (invocation: Promise<unknown>): Promise<number> =>
  await invocation.then(
    () => 0,
    () => 1,
  );

/** A process of a world whose table does what the test says. */
async function processWith(before: NonNullable<Hooks['before']>): Promise<[World, Process]> {
  const world = await World.create();
  return [world, world.process({ hooks: { before } })];
}

const inboundOf = ({ cloud: { environment } }: Process, skipped = () => {}) => ({
  ...{ environment, topicLevelsMax: 201, sleep: async () => {}, log: silent, published: () => {}, skipped },
});

function iotCoreHandler(process: Process, skipped?: () => void) {
  const source = {
    ...{ name: 'things', tenant: 'default', hopsMax: 1 },
    in: [{ filter: 'things/#', localPrefix: '', remotePrefix: '', qos: 1, retain: false }],
  };
  return createIotCoreHandler({ ...inboundOf(process, skipped), sources: [source as never] });
}

function kafkaHandler(process: Process, skipped?: () => void) {
  const mapping = { topic: 'prices', to: 'prices/{key}', qos: 1, retain: false };
  const mappings = { name: 'market', tenant: 'default', hopsMax: 1, in: [mapping] };
  return createKafkaHandler({ ...inboundOf(process, skipped), mappings: mappings as never });
}

const recordOf = (body: string) => ({ messageId: 'm', receiptHandle: 'm', body, attributes: {} });
const fromIotCore = (topic: string) => ({ Records: [recordOf(JSON.stringify({ topic, payload: '' }))] });
const fromKafka = (topic: string) => ({
  eventSource: 'aws:kafka',
  records: { 'prices-0': [{ topic, partition: 0, offset: 1, key: 'YQ==', value: 'YQ==' }] },
});

/** The timers of a will that cannot be begun. */
async function failedTimers() {
  const world = await TimersWorld.create();
  await world.connect('a', { will: { topic: 'will', payload: 'gone', qos: 1, retain: false } });
  await world.disconnect('a');
  const process = world.process();
  alterStores(process, ({ sessions }) => {
    sessions.beginWill = fails;
  });
  return { world, process };
}

/** Counts of a metric by the lines of a process. */
function counted({ log }: { readonly log: Process['log'] }, metric: string): number {
  let sum = 0;
  const meter = {
    add: (name: string, count = 1) => {
      if (name === metric) sum += count;
    },
  };
  const metered = meteredLog(silent, meter);
  for (const { level, event, fields } of log)
    metered[level as 'info' | 'warn' | 'error'](event, fields as Record<string, unknown>);
  return sum;
}

/** The figures that this project's code has to make rise. */
const OURS: Readonly<Record<string, Figure>> = {
  'AWS/Lambda Errors Gateway': async () => {
    const [world, process] = await processWith(fails);
    const connectionId = await world.connect();
    return await errors(world.publishThrough(process, connectionId, ['x'], 'a'));
  },
  'AWS/Lambda Errors Publish': async () => {
    const [world, process] = await processWith(fails);
    return await errors(new PublishEndpoint(world, process).publish({ topic: 'a', payload: 'x' }));
  },
  'AWS/Lambda Errors Sweep': async () => {
    const { world, process } = await failedTimers();
    world.time.nowMs += 600_000;
    const report = await world.sweep(process);
    return await errors((async () => report && failIfUnrepaired(report))());
  },
  'AWS/Lambda Errors UsageExport': async () => {
    const store = { put: fails, rows: () => [] } as never;
    const bucket = { has: fails, put: fails };
    const options = { store, bucket, format: 'csv', clock: { now: () => 0 }, log: silent } as const;
    return await errors(createUsageExport(options)({}));
  },
  'AWS/Lambda Errors Breaker': async () => {
    const client = { send: fails } as never;
    const breaker = new Breaker({
      ...{ gateway: client, lambda: client, sns: client, apiId: 'api', stageName: 'mqtt' },
      ...{ throttle: { framesPerSecond: 1, burstFrames: 1 }, eventSourceMappingIds: ['source'] },
      ...{ publishFunctionName: undefined, publishReservedConcurrency: undefined, topicArn: undefined },
      ...{ resetAfterMs: undefined, now: () => 0, log: () => {} },
    });
    return await errors(breaker.handle({ action: 'trip' }));
  },
  'AWS/Lambda Errors Rules': async () => {
    const clock = { now: () => 0 };
    const options = {
      deadLetters: {} as never,
      visibility: {} as never,
      clock,
      log: silent,
      count: () => {},
    };
    return await errors(createRulesHandler({ ...options, rules: fails })({ Records: [] }, context));
  },
  'AWS/Lambda Errors Kafkamarket': async () => {
    const [, process] = await processWith(throttles);
    return await errors(
      kafkaHandler(process)(fromKafka('prices'), { getRemainingTimeInMillis: () => 10_000 }),
    );
  },
  'AWS/Lambda Errors IotCore': async () => {
    const [, process] = await processWith(throttles);
    return await errors(iotCoreHandler(process)(fromIotCore('things/a'), context));
  },
  'AWS/Lambda Url5xxCount HttpApi': async () => {
    const world = await startCloudInProcess({ seed: 1 });
    const handler = world.apiFunction({ keysSha256: KEYS }, { scan: { page: fails } as never });
    const { status } = await call(handler, { method: 'GET', path: '/stats' });
    world.stop();
    return status >= 500 ? 1 : 0;
  },
  'AWS/Lambda Url4xxCount HttpApi': async () => {
    const world = await startCloudInProcess({ seed: 1 });
    const handler = world.apiFunction({ keysSha256: KEYS });
    const { status } = await call(
      handler,
      { method: 'GET', path: '/stats' },
      { headers: { authorization: 'no' } },
    );
    world.stop();
    return status >= 400 && status < 500 ? 1 : 0;
  },
  [METRICS.postsFailed]: async () => {
    const world = await World.create();
    await world.subscribers(1, { qos: 1 }, {}, 'one');
    world.gateway.answer = () => 'throttled';
    await world.publish(['x'], { qos: 1 }, 'one');
    return world.counted(METRICS.postsFailed);
  },
  [METRICS.messagesDropped]: async () => {
    const world = await World.create();
    await world.subscribers(1, { qos: 0 }, {}, 'one');
    world.gateway.answer = () => 'failed';
    await world.publish(['x'], { qos: 0 }, 'one');
    return world.counted(METRICS.messagesDropped);
  },
  [METRICS.publishesRefused]: async () => {
    const [world, process] = await processWith(() => {});
    const { call: countRefused, calls } = counter();
    const endpoint = new PublishEndpoint(world, process, { countRefused });
    await endpoint.publish({ topic: 'a', payload: 'x' }, { headers: { authorization: 'Bearer wrong' } });
    return calls();
  },
  [OPTIONAL_METRICS.fanOutJobsFailed]: async () => {
    const world = await World.create();
    await world.subscribers(3);
    await world.publish(['x']);
    const worker = world.process({ hooks: { before: fails } });
    await worker.work(world.queue.receive());
    return world.counted(OPTIONAL_METRICS.fanOutJobsFailed);
  },
  [OPTIONAL_METRICS.timersFailed]: async () => {
    const { world, process } = await failedTimers();
    world.time.nowMs += 60_000;
    await world.poll(process);
    return counted(process, OPTIONAL_METRICS.timersFailed);
  },
  [BRIDGE_METRICS.kafkaRecordsSkipped]: async () => {
    const [, process] = await processWith(() => {});
    const skipped = counter();
    await kafkaHandler(process, skipped.call)(fromKafka('unknown'), context);
    return skipped.calls();
  },
  [BRIDGE_METRICS.iotCoreMessagesSkipped]: async () => {
    const [, process] = await processWith(() => {});
    const skipped = counter();
    await iotCoreHandler(process, skipped.call)(fromIotCore('unknown'), context);
    return skipped.calls();
  },
};

/** The figures that AWS counts by itself, whatever the code does. */
const OF_AWS = [
  // The account has no concurrency left; invocations and their time.
  'AWS/Lambda Throttles Gateway',
  'AWS/Lambda Duration Gateway',
  'AWS/Lambda Invocations Sweep',
  // Messages that wait, that have been given up, and the age of the oldest one.
  'AWS/SQS ApproximateNumberOfMessagesVisible FanOutDeadLetters',
  'AWS/SQS ApproximateNumberOfMessagesVisible TimersDeadLetters',
  'AWS/SQS ApproximateNumberOfMessagesVisible IotCoreDeadLetters',
  'AWS/SQS ApproximateNumberOfMessagesVisible RulesDeadLetters',
  'AWS/SQS ApproximateNumberOfMessagesVisible TimersQueue',
  'AWS/SQS ApproximateAgeOfOldestMessage FanOutQueue',
  'AWS/SQS ApproximateAgeOfOldestMessage RulesQueue',
  'AWS/SQS ApproximateAgeOfOldestMessage IotCoreQueue',
  // Writes that a table refuses, and messages that the gateway bills.
  'AWS/DynamoDB WriteThrottleEvents Table',
  'AWS/DynamoDB WriteThrottleEvents SessionsTable',
  'AWS/DynamoDB WriteThrottleEvents StreamsTable',
  'AWS/ApiGateway MessageCount Api',
];

/** They rise when an invocation ends as a whole, as by a time-out. The functions answer what fails for one message. */
const BESIDE_OURS = ['AWS/Lambda Errors FanOut', 'AWS/Lambda Errors Timers'];

const { template } = synthBroker(EVERY_ALARM);

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** `BrokerGateway1A2B3C4D` is the construct `Gateway`. */
const nameOf = (logicalId: string) => /^Broker(.*?)[0-9A-F]{8}$/.exec(logicalId)?.[1] ?? logicalId;

function figureOf({ Namespace, MetricName, Dimensions = [] }: Metric): string {
  if (!Namespace.startsWith('AWS/')) return MetricName;
  const [id = ''] = Dimensions.flatMap(({ Value }) => /"(Broker\w+)"/.exec(JSON.stringify(Value))?.[1] ?? []);
  return `${Namespace} ${MetricName} ${nameOf(id)}`;
}

/** Each alarm, with the figures that it watches. */
const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(
  ([id, { Properties }]) => {
    const { Metrics: metrics = [], ...only } = Properties as Metric & {
      readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: Metric } }[];
    };
    const watched =
      metrics.length === 0 ? [only] : metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
    return [nameOf(id), watched.map(figureOf)] as const;
  },
);

describe('an alarm of a deployment', () => {
  it.each(alarms)('%s watches figures that are known to rise: %s', (_, figures) => {
    const known = figures.filter((figure) => !BESIDE_OURS.includes(figure));
    expect(known).not.toEqual([]);
    for (const figure of known) expect([...Object.keys(OURS), ...OF_AWS]).toContain(figure);
  });

  it('watches each figure of this test', () => {
    const watched = alarms.flatMap(([, figures]) => figures);
    expect(watched).toEqual(expect.arrayContaining([...Object.keys(OURS), ...OF_AWS]));
  });

  it('on the age of messages in a queue without order has another one beside it: SQS hides those that come again', () => {
    const queues = template.findResources('AWS::SQS::Queue');
    const isOrdered = (name: string) =>
      Object.entries(queues).some(([id, { Properties }]) => nameOf(id) === name && Properties.FifoQueue);
    const aged = alarms.flatMap(([, figures]) => figures.filter((figure) => figure.includes('AgeOfOldest')));
    const unordered = aged.map((figure) => figure.split(' ')[2] ?? '').filter((name) => !isOrdered(name));
    expect(unordered).toEqual(['IotCoreQueue']);
    expect(alarms.flatMap(([, figures]) => figures)).toContain('AWS/Lambda Errors IotCore');
  });
});

describe('the figure of an alarm', () => {
  it.each(Object.entries(OURS))('rises: %s', async (_, figure) => {
    expect(await figure()).toBeGreaterThan(0);
  });
});
