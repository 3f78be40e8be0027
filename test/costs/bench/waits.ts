import { createDynamoDb } from '@apus/emulated-aws';
import { DEFAULT_SERVICE_TIMES } from '@apus/simulation';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { aroundCalls } from '../../support/around-calls.ts';
import { DirectWorld } from './direct-world.ts';
import { SESSIONS_TABLE, STREAMS_TABLE, TABLE } from './functions.ts';
import type { BenchOperation } from './operation.ts';
import { enterShapes, warm } from './shapes.ts';
import { VirtualTime } from './virtual-time.ts';
import { startQueues } from './wide-fan-out.ts';

const { dynamoCall, post, sqsSend } = DEFAULT_SERVICE_TIMES;

const SHAPES_AGE_MS = 10_000;

/**
 * How long the handlers of each operation wait for services, all invocations together, in milliseconds. Simultaneous
 * calls count once. Services answer after the times that the simulation assumes, by a clock that moves only when all
 * work is done: the result is the same on each machine.
 */
export async function measureWaits(
  operations: readonly BenchOperation[],
): Promise<ReadonlyMap<string, number>> {
  const time = new VirtualTime();
  const world = await openWorld(time);
  const waits = new Map<string, number>();
  await time.during(async () => {
    const helper = await enterShapes(world);
    await world.pass(SHAPES_AGE_MS);
    const measured = operations.filter(({ isTimed = false, isLong = false }) => !isTimed && !isLong);
    for (const [index, operation] of measured.entries()) {
      const act = await operation.prepare(world, `bench/topic-${String(index).padStart(4, '0')}`);
      await world.quiet();
      await warm(world, helper);
      world.reset();
      await act();
      await world.quiet();
      if (world.failures.length > 0) throw new Error(`${operation.name}: ${world.failures.join('\n')}`);
      waits.set(operation.name, world.tally.elapsedMs);
    }
  });
  return waits;
}

async function openWorld(time: VirtualTime): Promise<DirectWorld> {
  const dynamo = new DynamoDBClient(createDynamoDb({ seed: 1 }).clientConfig());
  for (const name of [TABLE, SESSIONS_TABLE, STREAMS_TABLE])
    await dynamo.send(new CreateTableCommand(defineTable(name)));
  const queues = startQueues();
  const sqs = new SQSClient(queues.clientConfig());
  const posted = async () => {
    await time.wait(post.p50Ms);
    return 'sent' as const;
  };
  return new DirectWorld({
    dynamo: aroundCalls(dynamo, async (_operation, _input, call) => {
      await time.wait(dynamoCall.p50Ms);
      return await call();
    }),
    sqs: Object.assign(Object.create(sqs) as SQSClient, {
      send: async (...call: Parameters<SQSClient['send']>) => {
        await time.wait(sqsSend.p50Ms);
        return await sqs.send(...call);
      },
    }),
    queueUrl: (name) => queues.queueUrl(name),
    poster: {
      post: posted,
      attempt: posted,
      delete: async () => (await posted()) === 'sent',
      get: async () => {
        await posted();
        return { lastActiveAtMs: 0 };
      },
    },
    random: () => 0.99,
    stopwatch: () => time.nowMs,
  });
}
