import type { Stack } from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../cli/command-error.ts';
import { deletionFailed, findStack, isUsable, repair, repairOf, requireOurs } from '../cli/stack-state.ts';

/** CloudFormation with one answer for each command, by its name; the sent commands are recorded. */
function cloudFormation(answers: Readonly<Record<string, () => unknown>>) {
  const sent: string[] = [];
  const send = async (command: { readonly constructor: { readonly name: string } }) => {
    sent.push(command.constructor.name);
    return answers[command.constructor.name]?.() ?? {};
  };
  return { sent, client: { send, config: {} } as never };
}

function stackOf(StackStatus: string): Stack {
  return { StackName: 'apus', CreationTime: new Date(0), StackStatus: StackStatus as never };
}

function gone(): never {
  throw Object.assign(new Error('Stack with id apus does not exist'), { name: 'ValidationError' });
}

describe('a stack', () => {
  it('that does not exist is undefined', async () => {
    const { client } = cloudFormation({ DescribeStacksCommand: gone });
    expect(await findStack(client, 'apus')).toBeUndefined();
  });

  it('that cannot be read is an error', async () => {
    const denied = () => {
      throw new Error('not authorized');
    };
    const { client } = cloudFormation({ DescribeStacksCommand: denied });
    await expect(findStack(client, 'apus')).rejects.toThrow('not authorized');
  });

  it('that belongs to no broker is not changed', () => {
    expect(() => requireOurs(stackOf('CREATE_COMPLETE'), 'apus')).toThrow('The name is taken');
    const ours = { ...stackOf('CREATE_COMPLETE'), Tags: [{ Key: 'apus:stack', Value: 'broker' }] };
    expect(() => requireOurs(ours, 'apus')).not.toThrow();
  });
});

describe('resources that an earlier run has left', () => {
  it.each([
    ['CREATE_COMPLETE', 'none'],
    ['UPDATE_COMPLETE', 'none'],
    ['UPDATE_ROLLBACK_COMPLETE', 'none'],
    ['ROLLBACK_COMPLETE', 'delete'],
    ['ROLLBACK_FAILED', 'delete'],
    ['DELETE_FAILED', 'delete'],
    ['REVIEW_IN_PROGRESS', 'delete'],
    ['UPDATE_ROLLBACK_FAILED', 'continue-rollback'],
  ])('%s: %s', (status, what) => {
    expect(repairOf(stackOf(status), 'apus')).toBe(what);
  });

  it('are waited for while another deployment is running', () => {
    expect(() => repairOf(stackOf('UPDATE_IN_PROGRESS'), 'apus')).toThrow(
      'Somebody is changing the stack "apus" (UPDATE_IN_PROGRESS). Try again when that is over',
    );
  });

  it('are deleted before a new start', async () => {
    const { client, sent } = cloudFormation({ DescribeStacksCommand: gone });
    await repair(client, 'apus', 'delete');
    expect(sent[0]).toBe('DeleteStackCommand');
  });

  it('are rolled back to the end', async () => {
    const { client, sent } = cloudFormation({
      DescribeStacksCommand: () => ({ Stacks: [stackOf('UPDATE_ROLLBACK_COMPLETE')] }),
    });
    await repair(client, 'apus', 'continue-rollback');
    expect(sent[0]).toBe('ContinueUpdateRollbackCommand');
  });

  it('that cannot be deleted are an error that names the resource', async () => {
    const StackEvents = [
      {
        LogicalResourceId: 'Table',
        ResourceStatus: 'DELETE_FAILED',
        ResourceStatusReason: 'it is protected',
      },
      { LogicalResourceId: 'Queue', ResourceStatus: 'DELETE_COMPLETE' },
    ];
    const { client } = cloudFormation({ DescribeStackEventsCommand: () => ({ StackEvents }) });
    const error = await deletionFailed(client, 'apus', new Error('the waiter has given up'));
    expect(error).toBeInstanceOf(CommandError);
    expect(error.message).toBe(
      'The stack "apus" could not be deleted; the same command tries again.\n  Table: it is protected',
    );
  });

  it.each([
    ['CREATE_COMPLETE', true],
    ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', true],
    ['UPDATE_ROLLBACK_COMPLETE', true],
    ['ROLLBACK_COMPLETE', false],
    ['CREATE_FAILED', false],
    ['REVIEW_IN_PROGRESS', false],
    ['DELETE_FAILED', false],
  ])('of the CDK with status %s can be used: %s', (status, is) => {
    expect(isUsable(stackOf(status))).toBe(is);
  });

  it('need no request when the stack is complete', async () => {
    const { client, sent } = cloudFormation({});
    await repair(client, 'apus', 'none');
    expect(sent).toEqual([]);
  });
});
