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
import { TABLE_TAG } from '../lib/table.ts';
import type { AdoptedTables } from '../lib/table-props.ts';
import { CommandError } from './command-error.ts';
import { findStack, isOurs, resourcesOf } from './stack-state.ts';

/** As `createTable` in lib/table.ts makes them. */
const KEYS = 'p HASH, s RANGE';

/** The flag that adopts each table, its tag, and the output that names it. */
const TABLES = [
  ['tableName', { flag: '--adopt-table', holds: TABLE_TAG.messages, output: OUTPUTS.tableName }],
  [
    'sessionsTableName',
    { flag: '--adopt-sessions-table', holds: TABLE_TAG.sessions, output: OUTPUTS.sessionsTableName },
  ],
  [
    'streamsTableName',
    { flag: '--adopt-streams-table', holds: TABLE_TAG.streams, output: OUTPUTS.streamsTableName },
  ],
] as const;

/** The deployment that adopts tables. */
interface Wanted {
  readonly region: string;
  readonly encryptionKeyArn: string | undefined;
}

type Client = Pick<DynamoDBClient, 'send'>;

/** The names of the existing tables of these. */
type GivenTables = { readonly [As in keyof AdoptedTables]?: string | undefined };

/**
 * Checks the tables that the deployment adopts: CloudFormation does not, and the error would appear with the first
 * client.
 *
 * @throws {CommandError} for a table that does not exist, is not a broker's, or belongs in the other's place
 */
export async function requireAdoptable(
  client: Client,
  adopted: AdoptedTables,
  { region, encryptionKeyArn }: Wanted,
): Promise<void> {
  for (const [as, { flag, holds }] of TABLES) {
    const name = adopted[as];
    if (name === undefined) continue;
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
 * Keeps a broker at its tables: a deployment that omits the adopted tables would begin with empty ones, and two brokers
 * at one table would end each other's sessions.
 *
 * @param hasStreamsTable whether the deployment has the table of streams and rooms
 * @throws {CommandError}
 */
export async function requireTablesToUse(
  client: CloudFormationClient,
  stackName: string,
  adopted: AdoptedTables | undefined,
  hasStreamsTable = false,
): Promise<void> {
  if (adopted !== undefined) await requireUnused(client, stackName, adopted);
  const stack = await findStack(client, stackName);
  if (stack === undefined) return;
  const used = tablesOf(stack);
  const owned = await ownTables(client, stackName);
  const isForgotten = ([as]: (typeof TABLES)[number]) =>
    used[as] !== undefined &&
    !owned.includes(used[as]) &&
    adopted?.[as] === undefined &&
    (as !== 'streamsTableName' || hasStreamsTable);
  if (TABLES.some(isForgotten)) {
    const taken = hasStreamsTable ? used : { ...used, streamsTableName: undefined };
    throw new CommandError(
      `The stack "${stackName}" goes on with tables that it has adopted, and would begin with empty ones. Say ${adoptFlags(taken, owned)}`,
    );
  }
  const own = Object.values(adopted ?? {}).find((name) => owned.includes(name));
  if (own === undefined) return;
  throw new CommandError(
    `The table ${own} is the stack's own ("${stackName}"), which uses it without being told: leave out ${flagsOf(adopted ?? {}, own)}.`,
  );
}

/** The flags as a command line has them: tables that the stack has created need no flag. */
function adoptFlags(used: GivenTables, owned: readonly string[]): string {
  return TABLES.flatMap(([as, { flag }]) => {
    const name = used[as];
    return name === undefined || owned.includes(name) ? [] : [`${flag} ${name}`];
  }).join(' ');
}

/** The flags to omit: those of messages and sessions belong together. */
function flagsOf(adopted: GivenTables, own: string): string {
  return own === adopted.streamsTableName
    ? '--adopt-streams-table'
    : '--adopt-table and --adopt-sessions-table';
}

async function requireUnused(
  client: CloudFormationClient,
  stackName: string,
  adopted: AdoptedTables,
): Promise<void> {
  const wanted = Object.values(adopted);
  for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {})) {
    for (const stack of Stacks) {
      const used = Object.values(tablesOf(stack)).find((name) => name !== undefined && wanted.includes(name));
      if (used === undefined || stack.StackName === stackName || !isOurs(stack)) continue;
      throw new CommandError(
        `The table ${used} is in use by the stack "${stack.StackName}": two brokers at one table would end each other's sessions.`,
      );
    }
  }
}

/** The tables of a broker, whether its stack has created them or not. */
export function tablesOf({ Outputs = [] }: Stack): GivenTables {
  const output = (name: string) => Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
  return Object.fromEntries(TABLES.map(([as, each]) => [as, output(each.output)]));
}

async function ownTables(client: CloudFormationClient, stackName: string): Promise<readonly string[]> {
  const resources = await resourcesOf(client, stackName);
  return resources.filter(({ type }) => type === 'AWS::DynamoDB::Table').map(({ physicalId }) => physicalId);
}
