import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { SignedPoster } from '@apus/cloud';
import { DEFAULT_SERVICE_TIMES } from '@apus/simulation';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type DirectTally, DirectWorld } from './direct-world.ts';
import { SESSIONS_TABLE, STREAMS_TABLE, TABLE } from './functions.ts';
import type { BenchOperation } from './operation.ts';
import type { Times } from './row.ts';
import type { Endpoints } from './services.ts';
import { enterShapes, warm } from './session-operations.ts';
import { SLOW } from './slow.ts';

/** Rounds of an operation; the median of those after the first ones counts, in which code is still being compiled. */
interface Rounds {
  readonly all: number;
  readonly warmUp: number;
}

const CPU_ROUNDS: Rounds = { all: 25, warmUp: 10 };
/** Of operations with a thousand recipients, which do everything a thousand times. */
const LONG_ROUNDS: Rounds = { all: 3, warmUp: 1 };
/** Code has been compiled by then, and services that are waited for take longer. */
const ELAPSED_ROUNDS: Rounds = { all: 7, warmUp: 2 };

const SHAPES_AGE_MS = 10_000;

/**
 * Times of the handlers for each operation. Services are in another process and are spoken to over HTTP, as in AWS but
 * without TLS. Processor time is user and system, of this process, while an invocation runs. What is billed was measured
 * where services answer after the times that `npm run simulate` assumes, and processor time is added, as a function of
 * 512 MB has a share of a processor.
 */
export async function measureTimes(
  servicesProgram: string,
  operations: readonly BenchOperation[],
): Promise<ReadonlyMap<string, Times>> {
  const untimed = operations.filter(({ isTimed = false }) => !isTimed);
  const short = untimed.filter(({ isLong = false }) => !isLong);
  const long = untimed.filter(({ isLong = false }) => isLong);
  const cpu = new Map([
    ...(await measureMedians(servicesProgram, [], short, CPU_ROUNDS, ({ cpuMs }) => cpuMs)),
    ...(await measureMedians(servicesProgram, [], long, LONG_ROUNDS, ({ cpuMs }) => cpuMs)),
  ]);
  const elapsed = await measureMedians(
    servicesProgram,
    [SLOW],
    short,
    ELAPSED_ROUNDS,
    ({ elapsedMs }) => elapsedMs,
  );
  return new Map(
    [...cpu].map(([name, cpuMs]): [string, Times] => {
      const elapsedMs = elapsed.get(name);
      const slowerMs = cpuMs * (1 / DEFAULT_SERVICE_TIMES.processorShare - 1);
      return [name, { cpuMs, billedMs: elapsedMs === undefined ? undefined : elapsedMs + slowerMs }];
    }),
  );
}

async function measureMedians(
  servicesProgram: string,
  flags: readonly string[],
  operations: readonly BenchOperation[],
  { all, warmUp }: Rounds,
  read: (tally: Readonly<DirectTally>) => number,
): Promise<ReadonlyMap<string, number>> {
  const services = fork(servicesProgram, flags, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const world = await openWorld(services);
    const helper = await enterShapes(world);
    await world.pass(SHAPES_AGE_MS);
    const medians = new Map<string, number>();
    let topics = 0;
    for (const operation of operations) {
      const rounds: number[] = [];
      for (let round = 0; round < all; round += 1) {
        topics += 1;
        const act = await operation.prepare(world, `bench/topic-${String(topics).padStart(4, '0')}`);
        await world.settle();
        await warm(world, helper);
        world.reset();
        await act();
        await world.settle();
        if (world.failures.length > 0) throw new Error(`${operation.name}: ${world.failures.join('\n')}`);
        if (round >= warmUp) rounds.push(read(world.tally));
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
    // The queue's URL names a host of AWS; what is spoken to is the process beside.
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
