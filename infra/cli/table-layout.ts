import { LAYOUT_VERSION } from '@apus/store-dynamodb';
import { type DynamoDBClient, ResourceNotFoundException, ScanCommand } from '@aws-sdk/client-dynamodb';
import { flagOf } from '../lib/settings.ts';
import { CommandError } from './command-error.ts';

/** Items that are read from each table: a broker writes all of them in one layout. */
const ITEMS_READ = 10;

/**
 * Reads some items of each table before a deployment changes anything: the functions would refuse an item of another
 * layout, with the first client.
 *
 * @param tableNames of existing tables; a missing one is left to CloudFormation
 * @throws {CommandError} for an item of another layout, or without one
 */
export async function requireLayout(
  client: Pick<DynamoDBClient, 'send'>,
  tableNames: readonly string[],
): Promise<void> {
  for (const tableName of tableNames) {
    for (const layout of await layoutsIn(client, tableName)) {
      if (layout === String(LAYOUT_VERSION)) continue;
      throw new CommandError(
        `The table ${tableName} has items of layout ${layout ?? 'unknown'}, and this version of Apus reads layout ${LAYOUT_VERSION}. Nothing has been changed. Deploy this version as a new stack (${flagOf('name')}), or go back to the version that wrote the table.`,
      );
    }
  }
}

async function layoutsIn(
  client: Pick<DynamoDBClient, 'send'>,
  tableName: string,
): Promise<readonly (string | undefined)[]> {
  try {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName, Limit: ITEMS_READ }));
    return Items.map(({ v }) => v?.N);
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return [];
    throw error;
  }
}
