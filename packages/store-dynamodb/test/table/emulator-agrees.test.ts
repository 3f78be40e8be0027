import { createDynamoDb } from '@apus/emulated-aws';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { outcomeOf } from '../support/calls.ts';
import { DIFFERENCES } from '../support/differences.ts';
import { randomCalls } from '../support/random-calls.ts';
import { withMinistack } from '../support/stores.ts';

let tables = 0;

// Of units MiniStack knows little, see support/differences.ts: they are not compared.
await withMinistack((service) => {
  /** The same table in both. */
  const start = async () => {
    tables += 1;
    const tableName = `table-${tables}`;
    const emulated = new DynamoDBClient(createDynamoDb({ seed: tables }).clientConfig());
    for (const client of [service.client, emulated]) {
      await client.send(new CreateTableCommand(defineTable(tableName)));
    }
    return { tableName, emulated };
  };

  it('gives the same answers as the one in memory to random calls', async () => {
    const property = fc.asyncProperty(randomCalls, async (calls) => {
      const { tableName, emulated } = await start();
      for (const call of calls) {
        const theirs = await outcomeOf(service.client, tableName, call);
        expect(await outcomeOf(emulated, tableName, call)).toEqual(theirs);
      }
    });
    const seed = process.env.APUS_TEST_SEED;
    await fc.assert(property, { numRuns: runs(200), ...(seed !== undefined && { seed: Number(seed) }) });
  }, 600_000);

  describe('differs from DynamoDB, and so from the one in memory, in', () => {
    it.each(DIFFERENCES.map((difference) => [difference.what, difference] as const))(
      '%s',
      async (_what, { ask, documented, ministack }) => {
        const { tableName, emulated } = await start();
        const asked = (client: DynamoDBClient) => ask(client, tableName).catch((error: Error) => error.name);
        expect(await asked(emulated)).toEqual(documented);
        expect(await asked(service.client)).toEqual(ministack);
      },
    );
  });
});
