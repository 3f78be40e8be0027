import {
  type CloudFormationClient,
  paginateDescribeStacks,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { OUTPUTS } from '../lib/apus-stack.ts';
import type { AdoptedTables } from '../lib/props.ts';
import { TABLE_TAG } from '../lib/table.ts';
import { CommandError } from './command-error.ts';
import { findStack, isOurs, resourcesOf } from './stack-state.ts';

/** As `createTable` in lib/table.ts makes them. */
const KEYS = 'p HASH, s RANGE';

/** The deployment that adopts. */
interface Wanted {
  readonly region: string;
  readonly encryptionKeyArn: string | undefined;
}

type Client = Pick<DynamoDBClient, 'send'>;

/**
 * Looks at the tables that are to be adopted: CloudFormation does not, and the first client would find out.
 *
 * @throws {CommandError} for a table that is not there, is not a broker's, or holds what the other one should
 */
export async function requireAdoptable(
  client: Client,
  { tableName, sessionsTableName }: AdoptedTables,
  { region, encryptionKeyArn }: Wanted,
): Promise<void> {
  const tables = [
    ['--adopt-table', tableName, TABLE_TAG.messages],
    ['--adopt-sessions-table', sessionsTableName, TABLE_TAG.sessions],
  ] as const;
  for (const [flag, name, holds] of tables) {
    const table = await requireTable(client, flag, name, holds, region);
    requireKey(flag, table, encryptionKeyArn);
  }
}

async function requireTable(
  client: Client,
  flag: string,
  name: string,
  holds: string,
  region: string,
): Promise<TableDescription> {
  const table = await describe(client, name);
  if (table === undefined) throw new CommandError(`${flag}: there is no table ${name} in ${region}.`);
  const keys = table.KeySchema?.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(', ');
  if (keys !== KEYS) {
    throw new CommandError(`${flag}: the table ${name} has the keys ${keys}, and a broker's has ${KEYS}.`);
  }
  const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: table.TableArn }));
  const held = Tags.find(({ Key }) => Key === TABLE_TAG.key)?.Value;
  if (held === holds) return table;
  const tag = `--tags Key=${TABLE_TAG.key},Value=${holds}`;
  const advice = `If it is the right one (one that was restored from a backup has no tags): aws dynamodb tag-resource --region ${region} --resource-arn ${table.TableArn} ${tag}`;
  const found = held === undefined ? `has no tag ${TABLE_TAG.key}` : `holds ${held} (tag ${TABLE_TAG.key})`;
  throw new CommandError(`${flag}: the table ${name} ${found}, and ${holds} are expected. ${advice}`);
}

/** Functions that may not use the key of a table can neither read nor write it. */
function requireKey(
  flag: string,
  { TableName, SSEDescription: { KMSMasterKeyArn: keyArn } = {} }: TableDescription,
  given: string | undefined,
): void {
  if (keyArn === undefined || keyArn === given) return;
  throw new CommandError(
    `${flag}: the table ${TableName} is encrypted with a key that the functions have to use as well: --encryption-key-arn ${keyArn}`,
  );
}

async function describe(client: Client, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/**
 * Keeps a broker at its tables: a deployment that forgets what was adopted would begin with empty ones, and two brokers at
 * one table would end each other's sessions.
 *
 * @throws {CommandError}
 */
export async function requireTablesToUse(
  client: CloudFormationClient,
  stackName: string,
  adopted: AdoptedTables | undefined,
): Promise<void> {
  if (adopted !== undefined) await requireUnused(client, stackName, adopted);
  const stack = await findStack(client, stackName);
  if (stack === undefined) return;
  const { tableName, sessionsTableName } = tablesOf(stack);
  if (tableName === undefined || sessionsTableName === undefined) return;
  const owned = await ownTables(client, stackName);
  if (adopted === undefined && owned.length === 0) {
    throw new CommandError(
      `The stack "${stackName}" goes on with tables that it has adopted, and would begin with empty ones. Say ${adoptFlags({ tableName, sessionsTableName })}`,
    );
  }
  const own = Object.values(adopted ?? {}).find((name) => owned.includes(name));
  if (own === undefined) return;
  throw new CommandError(
    `The table ${own} is the stack's own ("${stackName}"), which uses it without being told: leave out --adopt-table and --adopt-sessions-table.`,
  );
}

/** As a command line has them. */
export function adoptFlags({ tableName, sessionsTableName }: AdoptedTables): string {
  return `--adopt-table ${tableName} --adopt-sessions-table ${sessionsTableName}`;
}

async function requireUnused(
  client: CloudFormationClient,
  stackName: string,
  adopted: AdoptedTables,
): Promise<void> {
  const wanted = Object.values(adopted);
  for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {})) {
    for (const stack of Stacks) {
      const used = Object.values(tablesOf(stack)).find((name) => wanted.includes(name));
      if (used === undefined || stack.StackName === stackName || !isOurs(stack)) continue;
      throw new CommandError(
        `The table ${used} is in use by the stack "${stack.StackName}": two brokers at one table would end each other's sessions.`,
      );
    }
  }
}

/** The tables of a broker, whether its stack has made them or not. */
export function tablesOf({ Outputs = [] }: Stack): Partial<AdoptedTables> {
  const output = (name: string) => Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
  const tableName = output(OUTPUTS.tableName);
  const sessionsTableName = output(OUTPUTS.sessionsTableName);
  return {
    ...(tableName !== undefined && { tableName }),
    ...(sessionsTableName !== undefined && { sessionsTableName }),
  };
}

async function ownTables(client: CloudFormationClient, stackName: string): Promise<readonly string[]> {
  const resources = await resourcesOf(client, stackName);
  return resources.filter(({ type }) => type === 'AWS::DynamoDB::Table').map(({ physicalId }) => physicalId);
}
