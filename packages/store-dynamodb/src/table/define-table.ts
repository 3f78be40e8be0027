import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

/** Name of the TTL attribute, in seconds since the epoch: to be enabled on the table. */
export const TTL_ATTRIBUTE = 't';

/** The table as this store needs it. Infrastructure code has to define the same. */
export function defineTable(tableName: string): CreateTableCommandInput {
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'p', AttributeType: 'S' },
      { AttributeName: 's', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'p', KeyType: 'HASH' },
      { AttributeName: 's', KeyType: 'RANGE' },
    ],
  };
}
