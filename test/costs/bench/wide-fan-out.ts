import { sessionKey } from '@apus/broker';
import { createDynamoDb, createSqs, ManualClock } from '@apus/emulated-aws';
import { Random } from '@apus/simulation';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DirectWorld } from './direct-world.ts';
import { FillingClient } from './filling-client.ts';
import { QUEUES, SESSIONS_TABLE, STREAMS_TABLE, TABLE } from './functions.ts';
import type { Measurement } from './measure.ts';
import { connected } from './operation.ts';
import { floorOfPublish, publishOne } from './publish-operations.ts';
import { enterShapes, warm } from './shapes.ts';
import type { Counted } from './world.ts';

type Qos = 0 | 1 | 2;

const TOPIC = 'bench/everybody';
const SHAPES_AGE_MS = 10_000;
/** The sampler's random numbers decide how often a filter doubles its shards. They are the same in every run. */
const SEED = 20_260_801;

/**
 * One message to more subscribers than sockets could serve. The store puts them where SUBSCRIBE would, the handlers
 * process the publisher's frame and the workers' batches, and the world counts posts.
 */
export async function measureWide(recipients: number): Promise<readonly Measurement[]> {
  const dynamoDb = createDynamoDb({ seed: 1 });
  const sqs = startQueues();
  const dynamo = new DynamoDBClient(dynamoDb.clientConfig());
  for (const name of [TABLE, SESSIONS_TABLE, STREAMS_TABLE])
    await dynamo.send(new CreateTableCommand(defineTable(name)));
  const filling = new FillingClient(dynamo);
  const random = new Random(SEED);
  let isFilling = true;
  const world = new DirectWorld({
    dynamo: { send: (...call: Parameters<typeof dynamo.send>) => filling.send(...call) } as typeof dynamo,
    sqs: new SQSClient(sqs.clientConfig()),
    queueUrl: (name) => sqs.queueUrl(name),
    poster: {
      post: async () => 'sent',
      attempt: async () => 'sent',
      delete: async () => true,
      get: async () => ({ lastActiveAtMs: 0 }),
    },
    random: () => (isFilling ? random.next() : 0.99),
  });
  const helper = await enterShapes(world);
  await world.pass(SHAPES_AGE_MS);
  filling.isFilling = true;
  for (let index = 0; index < recipients; index += 1) await subscribe(world, index);
  await filling.flush();
  filling.isFilling = false;
  isFilling = false;
  const publisher = await connected(world);
  const measurements: Measurement[] = [];
  for (const qos of [0, 1] as const) {
    await warm(world, helper);
    world.reset();
    dynamoDb.counters.reset();
    sqs.counters.reset();
    await publishOne(publisher, TOPIC, qos);
    await world.quiet();
    if (world.failures.length > 0) throw new Error(world.failures.join('\n'));
    const counted = countedOf(world, dynamoDb.counters.snapshot().total, sqs.counters.snapshot());
    if (counted.posts !== recipients) throw new Error(`expected ${recipients} posts, ${counted.posts} left`);
    measurements.push({ operation: wideOperation(recipients, qos), counted });
  }
  return measurements;
}

/**
 * QoS 2, by its extra cost over QoS 1 with few and with many recipients. The difference of the differences is the
 * recipients' part, and the publisher's part is the rest.
 */
export function exactlyOnce(
  recipients: number,
  atLeastOnce: Counted,
  few: { readonly recipients: number; readonly qos1: Counted; readonly qos2: Counted },
  many: { readonly recipients: number; readonly qos1: Counted; readonly qos2: Counted },
): Measurement {
  const names = Object.keys(atLeastOnce) as (keyof Counted)[];
  const counted = names.map((name): [string, number] => {
    const moreOfMany = many.qos2[name] - many.qos1[name];
    const moreOfFew = few.qos2[name] - few.qos1[name];
    const each = (moreOfMany - moreOfFew) / (many.recipients - few.recipients);
    const publisher = moreOfFew - each * few.recipients;
    return [name, Math.round(atLeastOnce[name] + publisher + each * recipients)];
  });
  return {
    operation: wideOperation(recipients, 2),
    counted: Object.fromEntries(counted) as unknown as Counted,
  };
}

function wideOperation(recipients: number, qos: Qos): Measurement['operation'] {
  const name = `PUBLISH QoS ${qos} to ${recipients.toLocaleString('en')}`;
  return { name, deliveries: recipients, floor: floorOfPublish(recipients, qos) };
}

/** The queues of a deployment, on a clock that stands still. */
export function startQueues(): ReturnType<typeof createSqs> {
  // Time stands still here as well: nothing is late, however slow the machine is.
  const sqs = createSqs({ seed: 1, clock: new ManualClock() });
  sqs.createQueue({ name: QUEUES.fanOutDead, fifo: true });
  sqs.createQueue({ name: QUEUES.timersDead });
  sqs.createQueue({
    name: QUEUES.fanOut,
    fifo: true,
    deduplicationScope: 'messageGroup',
    fifoThroughputLimit: 'perMessageGroupId',
  });
  sqs.createQueue({ name: QUEUES.timers });
  return sqs;
}

/** The shard holds a session that queues nothing together with its connection: nothing else of the session is read. */
async function subscribe(world: DirectWorld, index: number): Promise<void> {
  const name = `recipient-${String(index).padStart(7, '0')}`;
  const session = {
    key: sessionKey('default', name),
    tenant: 'default',
    clientId: name,
    incarnation: `incarnation-${String(index).padStart(7, '0')}`,
    attachment: {
      connectionId: name,
      protocolVersion: 5,
      receiveMaximum: 65_535,
      maximumPacketSize: 0xffff_ffff,
      keepsNothing: true,
    },
  } as const;
  const subscription = {
    topicFilter: TOPIC,
    shareGroup: undefined,
    qos: 2 as Qos,
    noLocal: false,
    retainAsPublished: false,
    subscriptionIdentifier: undefined,
  };
  await world.stores.subscriptions.put(session, [subscription], 100);
}

function countedOf(
  { tally }: DirectWorld,
  units: { readonly readUnits: number; readonly writeUnits: number },
  { requests }: ReturnType<ReturnType<typeof createSqs>['counters']['snapshot']>,
): Counted {
  // Leaves out empty receives, which are no part of the operation.
  const billed = (kind: 'fifo' | 'standard') =>
    Object.values(requests[kind]).reduce((sum, { billed: each, empty }) => sum + each - empty, 0);
  return {
    messagesIn: tally.messagesIn,
    messagesOut: tally.messagesOut,
    posts: tally.posts,
    invocations: tally.invocations,
    bytesOut: tally.bytesOut,
    readUnits: units.readUnits,
    writeUnits: units.writeUnits,
    sqsFifoRequests: billed('fifo'),
    sqsStandardRequests: billed('standard'),
  };
}
