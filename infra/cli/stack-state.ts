import {
  type CloudFormationClient,
  ContinueUpdateRollbackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  paginateListStackResources,
  type Stack,
  waitUntilStackDeleteComplete,
  waitUntilStackRollbackComplete,
} from '@aws-sdk/client-cloudformation';
import { STACK_TAG } from '../lib/apus-stack.ts';
import { CommandError } from './command-error.ts';

/** A deletion or a rollback waits for the slowest resource; an event source mapping takes minutes. */
const WAIT_SECONDS_MAX = 30 * 60;

/** The stack of that name; undefined when there is none. */
export async function findStack(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
): Promise<Stack | undefined> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return Stacks[0];
  } catch (error) {
    // CloudFormation has no error of its own for it.
    if (error instanceof Error && /does not exist/.test(error.message)) return undefined;
    throw error;
  }
}

/** A resource that a stack has created. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  /** Its name or ARN. */
  readonly physicalId: string;
}

export async function resourcesOf(
  client: CloudFormationClient,
  stackName: string,
): Promise<readonly StackResource[]> {
  const resources: StackResource[] = [];
  const pages = paginateListStackResources({ client }, { StackName: stackName });
  for await (const { StackResourceSummaries = [] } of pages) {
    for (const { LogicalResourceId, PhysicalResourceId, ResourceType } of StackResourceSummaries) {
      if (LogicalResourceId === undefined || PhysicalResourceId === undefined) continue;
      resources.push({
        logicalId: LogicalResourceId,
        type: ResourceType ?? '',
        physicalId: PhysicalResourceId,
      });
    }
  }
  return resources;
}

/** Whether the creation of a stack is complete. */
export function isUsable({ StackStatus }: Stack): boolean {
  return /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE(_|$)/.test(StackStatus ?? '');
}

/** Whether the stack belongs to a broker. */
export function isOurs({ Tags = [] }: Stack): boolean {
  return Tags.some(({ Key, Value }) => Key === STACK_TAG.key && Value === STACK_TAG.value);
}

/** @throws {CommandError} for a stack that does not belong to a broker */
export function requireOurs(stack: Stack, stackName: string): void {
  if (isOurs(stack)) return;
  throw new CommandError(
    `The name is taken: the stack "${stackName}" is not a broker's, and is left alone. Say --name and another one.`,
  );
}

/** The repair that a stack needs before a deployment. */
export type Repair = 'none' | 'delete' | 'continue-rollback';

/** The repair after an earlier deployment. @throws {CommandError} while another deployment is running */
export function repairOf(stack: Stack, stackName: string): Repair {
  const status = stack.StackStatus ?? '';
  if (status === 'UPDATE_ROLLBACK_FAILED') return 'continue-rollback';
  if (['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'].includes(status))
    return 'delete';
  // A deployment was interrupted before it made a resource.
  if (status === 'REVIEW_IN_PROGRESS') return 'delete';
  if (!status.endsWith('_IN_PROGRESS')) return 'none';
  throw new CommandError(
    `Somebody is changing the stack "${stackName}" (${status}). Try again when that is over; CloudFormation's console shows it.`,
  );
}

/** @throws {CommandError} with CloudFormation's reason if the repair fails */
export async function repair(client: CloudFormationClient, stackName: string, what: Repair): Promise<void> {
  const waiting = { client, maxWaitTime: WAIT_SECONDS_MAX };
  if (what === 'delete') {
    await client.send(new DeleteStackCommand({ StackName: stackName }));
    try {
      await waitUntilStackDeleteComplete(waiting, { StackName: stackName });
    } catch (error) {
      throw await deletionFailed(client, stackName, error);
    }
  }
  if (what === 'continue-rollback') {
    await client.send(new ContinueUpdateRollbackCommand({ StackName: stackName }));
    try {
      await waitUntilStackRollbackComplete(waiting, { StackName: stackName });
    } catch (error) {
      const reasons = await reasonsOf(client, stackName, 'UPDATE_FAILED');
      throw new CommandError(
        [`The stack "${stackName}" could not be rolled back; the same command tries again.`, ...reasons].join(
          '\n',
        ),
        { cause: error },
      );
    }
  }
}

/** The error for a stack whose deletion has failed. */
export async function deletionFailed(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
  cause: unknown,
): Promise<CommandError> {
  const reasons = await reasonsOf(client, stackName, 'DELETE_FAILED');
  const sentence = `The stack "${stackName}" could not be deleted; the same command tries again.`;
  return new CommandError([sentence, ...reasons].join('\n'), { cause });
}

async function reasonsOf(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
  status: 'DELETE_FAILED' | 'UPDATE_FAILED',
): Promise<readonly string[]> {
  const { StackEvents = [] } = await client.send(new DescribeStackEventsCommand({ StackName: stackName }));
  return StackEvents.filter(({ ResourceStatus }) => ResourceStatus === status).map(
    ({ LogicalResourceId, ResourceStatusReason }) => `  ${LogicalResourceId}: ${ResourceStatusReason}`,
  );
}
