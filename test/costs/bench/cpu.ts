import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { SignedPoster } from '@apus/aws';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DirectWorld } from './direct-world.ts';
import { SESSIONS_TABLE, STREAMS_TABLE, TABLE } from './functions.ts';
import type { BenchOperation } from './operation.ts';
import type { Endpoints } from './services.ts';
import { enterShapes, warm } from './shapes.ts';

/**
 * Rounds of every operation. The median of the later rounds counts, as code is still being compiled in the first ones.
 */
const ROUNDS = { all: 25, warmUp: 10 };
/** Rounds of operations with a thousand recipients, which do everything a thousand times. */
const LONG_ROUNDS = { all: 3, warmUp: 1 };

const SHAPES_AGE_MS = 10_000;

/**
 * Processor time of the handlers for each operation, in milliseconds: user and system time of this process while an
 * invocation runs. Services run in another process, and the handlers call them over HTTP, as in AWS but without TLS.
 */
export async function measureCpu(
  servicesProgram: string,
  operations: readonly BenchOperation[],
): Promise<ReadonlyMap<string, number>> {
  const services = fork(servicesProgram, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const world = await openWorld(services);
    const helper = await enterShapes(world);
    await world.pass(SHAPES_AGE_MS);
    const medians = new Map<string, number>();
    let topics = 0;
    for (const operation of operations.filter(({ isTimed = false }) => !isTimed)) {
      const rounds: number[] = [];
      const { all, warmUp } = operation.isLong === true ? LONG_ROUNDS : ROUNDS;
      for (let round = 0; round < all; round += 1) {
        topics += 1;
        const act = await operation.prepare(world, `bench/topic-${String(topics).padStart(4, '0')}`);
        await world.quiet();
        await warm(world, helper);
        world.reset();
        await act();
        await world.quiet();
        if (world.failures.length > 0) throw new Error(`${operation.name}: ${world.failures.join('\n')}`);
        if (round >= warmUp) rounds.push(world.tally.cpuMs);
      }
      medians.set(operation.name, median(rounds));
    }
    return medians;
  } finally {
    services.disconnect();
  }
}

async function openWorld(services: ChildProcess): Promise<DirectWorld> {
  const [{ endpoint, queueUrls }] = (await once(services, 'message')) as [Endpoints];
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = { endpoint, region: 'us-east-1', credentials, maxAttempts: 1 };
  const dynamo = new DynamoDBClient(client);
  for (const name of [TABLE, SESSIONS_TABLE, STREAMS_TABLE])
    await dynamo.send(new CreateTableCommand(defineTable(name)));
  return new DirectWorld({
    dynamo,
    // The queue's URL names a host of AWS, but the client connects to the services' process.
    sqs: new SQSClient({ ...client, useQueueUrlAsEndpoint: false }),
    queueUrl: (name) => queueUrls[name] ?? '',
    poster: new SignedPoster({
      endpoint: `${endpoint}/mqtt`,
      region: client.region,
      credentials,
      clock: { now: Date.now },
    }),
    random: () => 0.99,
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
