import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CommandError } from '../cli/command-error.ts';
import { findStack } from '../cli/stack-state.ts';
import { OUTPUTS } from '../lib/apus-stack.ts';
import { E2E_VARIABLES } from './support/deployed.ts';

/** The facts of a deployed stack that the tests need, as environment variables. */
export async function describeDeployment(stackName: string): Promise<Readonly<Record<string, string>>> {
  const stack = await findStack(new CloudFormationClient(), stackName);
  const outputs = new Map(stack?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  const output = (name: string): string => {
    const value = outputs.get(name);
    if (value === undefined) throw new CommandError(`The stack "${stackName}" has no output ${name}.`);
    return value;
  };
  const keysArn = outputs.get(OUTPUTS.publishKeysArn);
  const apiUrl = outputs.get(OUTPUTS.httpApiUrl);
  return {
    [E2E_VARIABLES.stackName]: stackName,
    [E2E_VARIABLES.url]: output(OUTPUTS.url),
    [E2E_VARIABLES.secret]: await secretOf(output(OUTPUTS.tokenSecretArn)),
    [E2E_VARIABLES.breakerName]: output(OUTPUTS.breakerName),
    [E2E_VARIABLES.tokenSecretArn]: output(OUTPUTS.tokenSecretArn),
    [E2E_VARIABLES.publishUrl]: output(OUTPUTS.httpPublishUrl),
    ...(apiUrl !== undefined && { [E2E_VARIABLES.apiUrl]: apiUrl }),
    ...(keysArn !== undefined && { [E2E_VARIABLES.publishKey]: await secretOf(keysArn) }),
  };
}

async function secretOf(arn: string): Promise<string> {
  const { SecretString = '' } = await new SecretsManagerClient().send(
    new GetSecretValueCommand({ SecretId: arn }),
  );
  return SecretString;
}
