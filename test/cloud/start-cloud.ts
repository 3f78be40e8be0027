import {
  createDynamoDb,
  type DynamoDb,
  type Emulator,
  type Environment,
  startEmulator,
} from '@apus/emulated-aws';
import { defineTable, leanClient } from '@apus/store-dynamodb';
import { number, registryKey, VERSION } from '@apus/store-dynamodb/testing';
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { emulatedAccount } from './emulated-account.ts';
import { functionsOf, logInto } from './functions.ts';
import { FAN_OUT_DEAD, SESSIONS_TABLE, STREAMS_TABLE, TABLE, TIMERS_DEAD } from './names.ts';
import type { CloudWorldOptions, World } from './options.ts';

export type { CloudWorldOptions } from './options.ts';

/** The whole of a deployment in this process: every function, behind the emulators of every service. */
export interface CloudWorld extends World {
  readonly emulator: Emulator;
  stop(): Promise<void>;
}

export async function startCloud(options: CloudWorldOptions): Promise<CloudWorld> {
  const failures: string[] = [];
  const dynamoDb = await startDynamoDb(options);
  // A clock that a test moves waits for nothing.
  if (options.clock === undefined) await knowShapes(dynamoDb, options);
  let started: Emulator | undefined;
  const running = () => {
    if (started === undefined) throw new Error('the emulator has not started');
    return started;
  };
  const services = {
    dynamo: (environment: Environment) => leanClient(dynamoDb.clientConfig(environment)),
    sqs: (environment: Environment) => new SQSClient(running().sqs.clientConfig(environment)),
    queueUrl: (name: string) => running().sqs.queueUrl(name),
    log: logInto(failures),
  };
  const make = (environment: Environment) => functionsOf(environment, services, options);
  const emulator = await startEmulator(emulatedAccount(options, make, failures));
  started = emulator;
  return {
    url: emulator.url,
    emulator,
    dynamoDb,
    failures,
    deadLetters: () =>
      [FAN_OUT_DEAD, TIMERS_DEAD].reduce((sum, name) => sum + emulator.sqs.depth(name).available, 0),
    stop: () => emulator.stop(),
  };
}

/** Shapes of filters that most tests subscribe to. Not of all filters: a publish reads a head for each shape that fits. */
const SHAPES = ['.', '..', '.#'];

/**
 * The first SUBACK of a shape waits two seconds of real time (`ShapeRegistry`). A deployment that has been used for a while
 * knows its shapes.
 */
async function knowShapes(
  dynamoDb: DynamoDb,
  { tenants = ['default'], shapes: others = [] }: CloudWorldOptions,
): Promise<void> {
  const client = new DynamoDBClient(dynamoDb.clientConfig());
  const shapes = [...SHAPES, ...others].map((shape) => [`~${shape}`, number(0)]);
  for (const tenant of tenants) {
    const { p, s } = registryKey(tenant);
    const Item = { p: { S: p }, s: { S: s }, v: number(VERSION), ...Object.fromEntries(shapes) };
    await client.send(new PutItemCommand({ TableName: TABLE, Item }));
  }
}

/** DynamoDB in memory, with the tables. */
export async function startDynamoDb({ seed, clock, dynamoFaults }: CloudWorldOptions): Promise<DynamoDb> {
  const dynamoDb = createDynamoDb({
    seed,
    ...(clock !== undefined && { clock }),
    ...(dynamoFaults !== undefined && { faults: dynamoFaults }),
  });
  const client = new DynamoDBClient(dynamoDb.clientConfig());
  for (const name of [TABLE, SESSIONS_TABLE, STREAMS_TABLE])
    await client.send(new CreateTableCommand(defineTable(name)));
  return dynamoDb;
}
