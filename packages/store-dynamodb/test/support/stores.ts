import { randomUUID } from 'node:crypto';
import { NOW_MS } from '@apus/broker/samples';
import { createDynamoDb } from '@apus/emulated-aws';
import {
  createDynamoStores,
  type DynamoOptions,
  type DynamoStores,
  defineTable,
  leanClient,
} from '@apus/store-dynamodb';
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { aroundCalls } from '../../../../test/support/around-calls.ts';
import { ministackOrSkip } from '../../../../test/support/ministack-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';

export { NOW_MS };

/** Time that passes only when code sleeps. */
export class FakeClock {
  nowMs = NOW_MS;
  /** By how much the wall clock has been set since. */
  steppedMs = 0;
  readonly sleeps: number[] = [];

  now = (): number => this.nowMs + this.steppedMs;

  steady = (): number => this.nowMs;

  sleep = async (ms: number): Promise<void> => {
    this.sleeps.push(ms);
    this.nowMs += ms;
  };
}

/** Run by a test before and after each call of one process to DynamoDB. The caller gets an error that a hook throws. */
export interface Hooks {
  before?(operation: string, input: object): Promise<void> | void;
  /** The call has had its effect; an error loses its answer. */
  after?(operation: string, input: object): Promise<void> | void;
}

export interface MakeOptions extends Partial<DynamoOptions> {
  readonly fakeClock?: FakeClock;
  readonly hooks?: Hooks;
}

export interface Service {
  readonly client: DynamoDBClient;
  /** Messages and subscriptions. */
  readonly tableName: string;
  /** Connections, sessions and records. */
  readonly sessionsTableName: string;
  /** The history of streams. */
  readonly streamsTableName: string;
  /** Stores over the tables; each call is another process with its own caches. */
  make(options?: MakeOptions): DynamoStores;
}

/**
 * Runs `define` with our own DynamoDB in memory; in CI also with one that is not ours. That is MiniStack or another
 * service at `APUS_DYNAMODB_ENDPOINT`, where the tests make a table for each file. On every machine
 * `emulator-agrees.test.ts` compares the two.
 */
export async function withService(define: (service: Service) => void): Promise<void> {
  await inMemory(define);
  const endpoint = process.env.APUS_DYNAMODB_ENDPOINT;
  if (endpoint !== undefined) await withEndpoint(endpoint, `at ${endpoint}`, define);
  else if (process.env.CI !== undefined) await withMinistack(define);
}

async function inMemory(define: (service: Service) => void): Promise<void> {
  const emulated = await makeService(createDynamoDb({ seed: 1 }).clientConfig(), {
    readUnitsFrom: 'service',
  });
  describe('in memory', () => define(emulated));
}

/** Runs `define` with a DynamoDB that is not ours, where one can be started. */
export async function withMinistack(define: (service: Service) => void): Promise<void> {
  const ministack = await ministackOrSkip('dynamodb');
  if (ministack !== undefined) return await withEndpoint(ministack.endpoint, 'on MiniStack', define);
  const unused = await makeService(createDynamoDb({ seed: 1 }).clientConfig(), { readUnitsFrom: 'service' });
  describe('on MiniStack', needs('python', ministack), () => define(unused));
}

async function withEndpoint(
  endpoint: string,
  title: string,
  define: (service: Service) => void,
): Promise<void> {
  const service = await makeService({ endpoint }, { readUnitsFrom: 'sizes' });
  describe(title, () => {
    afterAll(async () => {
      for (const TableName of [service.tableName, service.sessionsTableName, service.streamsTableName])
        await service.client.send(new DeleteTableCommand({ TableName }));
      service.client.destroy();
    });
    define(service);
  });
}

async function makeService(
  config: DynamoDBClientConfig,
  defaults: Pick<DynamoOptions, 'readUnitsFrom'>,
): Promise<Service> {
  const client = connect(config);
  const tableName = `apus-${randomUUID()}`;
  const sessionsTableName = `${tableName}-sessions`;
  const streamsTableName = `${tableName}-streams`;
  for (const name of [tableName, sessionsTableName, streamsTableName])
    await client.send(new CreateTableCommand(defineTable(name)));
  const make = ({ fakeClock = new FakeClock(), hooks, ...options }: MakeOptions = {}) =>
    createDynamoStores({
      client: hooks === undefined ? client : hooked(client, hooks),
      tableName,
      sessionsTableName,
      streamsTableName,
      clock: fakeClock,
      sleep: fakeClock.sleep,
      ...defaults,
      ...options,
    });
  return { client, tableName, sessionsTableName, streamsTableName, make };
}

/** The client of the functions, which deployments have. */
function connect(config: DynamoDBClientConfig): DynamoDBClient {
  return leanClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    ...config,
  });
}

function hooked(client: DynamoDBClient, hooks: Hooks): DynamoDBClient {
  return aroundCalls(client, async (operation, input, call) => {
    await hooks.before?.(operation, input);
    const answer = await call();
    await hooks.after?.(operation, input);
    return answer;
  });
}

/** As DynamoDB says it, and as a connection that breaks says it. */
export function failure(name: 'ThrottlingException' | 'TimeoutError'): Error {
  return Object.assign(new Error(name), { name });
}
