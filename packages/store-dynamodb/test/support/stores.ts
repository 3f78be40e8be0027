import { createDynamoStores, type DynamoOptions, type DynamoStores, defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, it } from 'vitest';
import { type Ministack, startMinistack } from './ministack.ts';

/** Some moment: that of the contract suites. */
export const NOW_MS = 1_700_000_000_000;

/** Time that passes only where somebody sleeps. */
export class FakeClock {
  nowMs = NOW_MS;
  readonly sleeps: number[] = [];

  now = (): number => this.nowMs;

  sleep = async (ms: number): Promise<void> => {
    this.sleeps.push(ms);
    this.nowMs += ms;
  };
}

export interface Service {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Stores over the one table; each call is another process with its own caches. */
  make(options?: Partial<DynamoOptions> & { fakeClock?: FakeClock }): DynamoStores;
}

/**
 * Runs `define` with a DynamoDB that is not ours. Where none can be started the file is skipped and says why; in CI
 * it fails.
 */
export async function withService(define: (service: Service) => void): Promise<void> {
  let ministack: Ministack;
  try {
    ministack = await startMinistack();
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    it.skip(`needs MiniStack, which could not be started: ${error}`, () => {});
    return;
  }
  const service = await makeService(ministack.endpoint);
  afterAll(async () => {
    service.client.destroy();
    await ministack.stop();
  });
  define(service);
}

async function makeService(endpoint: string): Promise<Service> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  const tableName = 'apus';
  await client.send(new CreateTableCommand(defineTable(tableName)));
  return {
    client,
    tableName,
    make: ({ fakeClock = new FakeClock(), ...options } = {}) =>
      createDynamoStores({
        client,
        tableName,
        clock: fakeClock,
        sleep: fakeClock.sleep,
        readUnitsFrom: 'sizes',
        ...options,
      }),
  };
}
