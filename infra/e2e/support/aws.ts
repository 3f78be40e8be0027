import { CloudFormationClient, DescribeStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { deployed } from './deployed.ts';

/** The physical name of the stack's resource whose logical id begins with this. */
export async function physicalIdOf(logicalIdPrefix: string, type: string): Promise<string> {
  const client = new CloudFormationClient();
  const { StackResources = [] } = await client.send(
    new DescribeStackResourcesCommand({ StackName: deployed.stackName }),
  );
  const found = StackResources.find(
    ({ LogicalResourceId = '', ResourceType }) =>
      ResourceType === type && LogicalResourceId.replace(/[0-9A-F]{8}$/, '') === logicalIdPrefix,
  );
  if (found?.PhysicalResourceId === undefined) throw new Error(`no ${type} ${logicalIdPrefix}`);
  return found.PhysicalResourceId;
}

/** Calls a function and waits for its answer. */
export async function invoke(functionName: string, payload: object): Promise<unknown> {
  const client = new LambdaClient();
  const { Payload, FunctionError } = await client.send(
    new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) }),
  );
  const text = Payload === undefined ? '' : new TextDecoder().decode(Payload);
  if (FunctionError !== undefined) throw new Error(`${functionName}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Asks again, twice a second, until the answer is right; otherwise the test's timeout ends it. */
export async function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const POLL_MS = 500;
