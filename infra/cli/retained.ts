import { type CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CommandError } from './command-error.ts';
import type { StackResource } from './stack-state.ts';

const WAIT_SECONDS_MAX = 10 * 60;

/** A resource that outlives its stack. */
export type Retained = Pick<StackResource, 'type' | 'physicalId'>;

/** The parts of a stack's template that `destroy` reads. */
export interface StackTemplate {
  readonly Resources?: Readonly<Record<string, { readonly DeletionPolicy?: string }>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export async function templateOf(client: CloudFormationClient, stackName: string): Promise<StackTemplate> {
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stackName }));
  return JSON.parse(TemplateBody);
}

/** The resources of a stack that are kept when it is deleted. */
export function retainedBy(
  { Resources = {} }: StackTemplate,
  resources: readonly StackResource[],
): readonly Retained[] {
  const isRetained = (id: string) => Resources[id]?.DeletionPolicy?.startsWith('Retain') ?? false;
  return resources
    .filter(({ logicalId }) => isRetained(logicalId))
    .map(({ type, physicalId }) => ({ type, physicalId }));
}

/**
 * Call it before the stack is deleted: without the stack the tables cannot be found.
 * @throws {CommandError} for a protected table
 */
export async function requireDeletable(retained: readonly Retained[], region: string): Promise<void> {
  const client = new DynamoDBClient({ region });
  for (const { type, physicalId } of retained) {
    if (type !== 'AWS::DynamoDB::Table') continue;
    const { Table } = await client.send(new DescribeTableCommand({ TableName: physicalId }));
    if (Table?.DeletionProtectionEnabled !== true) continue;
    throw new CommandError(
      `The table ${physicalId} is protected against deletion, and nothing was changed. Deploy with --deletion-protection false first.`,
    );
  }
}

/** Deletes tables and secrets for good. Other retained resources belong to the account and not to the broker. */
export async function deleteData(
  retained: readonly Retained[],
  region: string,
): Promise<readonly Retained[]> {
  const left: Retained[] = [];
  for (const each of retained) {
    if (each.type === 'AWS::DynamoDB::Table') await deleteTable(each.physicalId, region);
    else if (each.type === 'AWS::SecretsManager::Secret') await deleteSecret(each.physicalId, region);
    else left.push(each);
  }
  return left;
}

async function deleteTable(tableName: string, region: string): Promise<void> {
  const client = new DynamoDBClient({ region });
  await client.send(new DeleteTableCommand({ TableName: tableName }));
  await waitUntilTableNotExists({ client, maxWaitTime: WAIT_SECONDS_MAX }, { TableName: tableName });
}

async function deleteSecret(secretId: string, region: string): Promise<void> {
  const client = new SecretsManagerClient({ region });
  await client.send(new DeleteSecretCommand({ SecretId: secretId, ForceDeleteWithoutRecovery: true }));
}
