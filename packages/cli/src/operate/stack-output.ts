import { awsSentenceOf } from '../aws/errors.ts';
import { OperateError } from './operator.ts';

/** An output of a stack of CloudFormation. @throws {OperateError} with a sentence */
export async function stackOutput(
  stack: string,
  output: string,
  region: string | undefined,
): Promise<string> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ maxAttempts: 3, ...(region !== undefined && { region }) });
  const { Stacks = [] } = await client
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((error: Error) => {
      throw new OperateError(sentenceOf(error, region), { cause: error });
    });
  const found = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (found !== undefined) return found;
  throw new OperateError(
    `The stack "${stack}" has no output ${output}: it was deployed without it, or by an older version of Apus.`,
  );
}

function sentenceOf(error: Error, region: string | undefined): string {
  const service = 'CloudFormation';
  if (/does not exist/i.test(error.message))
    return `${service} knows no such stack or function here: ${error.message}`;
  const denied = 'Your credentials may not do that: cloudformation:DescribeStacks.';
  return awsSentenceOf(error, { service, region, denied });
}
