import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { CommandError } from '../cli/command-error.ts';
import { findStack } from '../cli/stack-state.ts';
import { STACK_TAG } from '../lib/apus-stack.ts';
import { endOf, type Program } from './run-program.ts';

const THEIRS = 'theirs';
const WAIT = { maxWaitTime: 60, minDelay: 1, maxDelay: 1 };

const SOMEBODY_ELSES = { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } };
/** The function does not exist, so the creation fails and is rolled back. */
const FAILING = {
  Resources: {
    Url: { Type: 'AWS::Lambda::Url', Properties: { TargetFunctionArn: 'nobody', AuthType: 'NONE' } },
  },
};

/** Common mistakes of owners, with the error message for each. */
const MISTAKES: readonly {
  readonly flags: readonly string[];
  readonly sentence: string;
  readonly key?: string;
}[] = [
  { flags: ['--name', THEIRS], sentence: `The name is taken: the stack "${THEIRS}" is not a broker's` },
  { flags: ['--account', '123456789012'], sentence: 'and --account says 123456789012. Nothing was changed.' },
  { flags: ['--region', 'us-wast-1'], sentence: '"us-wast-1" is no Region of AWS that is known here.' },
  { flags: [], key: 'AKIAIOSFODNN7EXAMPLE', sentence: 'AWS does not know the access key' },
];

/**
 * Checks that each of them is refused with its message.
 * @throws {CommandError} if one is not
 */
export async function requireRefusals(deploy: (...flags: readonly string[]) => Program): Promise<void> {
  const client = new CloudFormationClient();
  await client.send(
    new CreateStackCommand({ StackName: THEIRS, TemplateBody: JSON.stringify(SOMEBODY_ELSES) }),
  );
  await waitUntilStackCreateComplete({ client, ...WAIT }, { StackName: THEIRS });
  for (const { flags, sentence, key } of MISTAKES) {
    const environment = key === undefined ? {} : { AWS_ACCESS_KEY_ID: key };
    const { code, said } = await endOf({ ...deploy(...flags), environment });
    if (code === 1 && said.includes(sentence)) continue;
    throw new CommandError(`Expected exit code 1 and "${sentence}", got ${code} and:\n${said}`);
  }
  await client.send(new DeleteStackCommand({ StackName: THEIRS }));
  await waitUntilStackDeleteComplete({ client, ...WAIT }, { StackName: THEIRS });
}

/** A broker's stack whose first deployment has failed: it accepts no deployment until it is cleaned up. */
export async function leaveHalfFinished(stackName: string): Promise<void> {
  const client = new CloudFormationClient();
  const Tags = [{ Key: STACK_TAG.key, Value: STACK_TAG.value }];
  const TemplateBody = JSON.stringify(FAILING);
  await client.send(new CreateStackCommand({ StackName: stackName, TemplateBody, Tags }));
  await waitUntilStackCreateComplete({ client, ...WAIT }, { StackName: stackName }).catch(() => {});
  const stack = await findStack(client, stackName);
  if (stack?.StackStatus === 'ROLLBACK_COMPLETE') return;
  throw new CommandError(`Expected a deployment that was rolled back, got ${stack?.StackStatus}.`);
}
