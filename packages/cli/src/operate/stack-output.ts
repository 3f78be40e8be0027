import { installed } from '@apus/door';
import { awsSentenceOf } from '../aws/errors.ts';
import { OperateError } from './operate-error.ts';

/** An output of a stack of CloudFormation. @throws {OperateError} with a sentence */
export async function stackOutput(
  stack: string,
  output: string,
  region: string | undefined,
): Promise<string> {
  const { CloudFormationClient, DescribeStacksCommand } = await installed(
    import('@aws-sdk/client-cloudformation'),
  );
  const client = new CloudFormationClient({ maxAttempts: 3, ...(region !== undefined && { region }) });
  const asking = client.send(new DescribeStacksCommand({ StackName: stack }));
  const { Stacks = [] } = await explained(asking, 'CloudFormation', region, 'cloudformation:DescribeStacks');
  const found = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (found !== undefined) return found;
  throw new OperateError(
    `The stack "${stack}" has no output ${output}: it was deployed without it, or by an older version of Apus.`,
  );
}

/** @param permission which the caller may lack. @throws {OperateError} that says why AWS does not answer */
export async function explained<T>(
  asking: Promise<T>,
  service: string,
  region: string | undefined,
  permission: string,
): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    const { message } = error as Error;
    const denied = `Your credentials may not do that: ${permission}.`;
    const sentence = /does not exist|not found/i.test(message)
      ? `${service} knows no such stack or function here: ${message}`
      : awsSentenceOf(error, { service, region, denied });
    throw new OperateError(sentence, { cause: error });
  }
}
