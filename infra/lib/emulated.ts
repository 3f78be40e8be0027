import { VARIABLES } from '@apus/cloud/lambda';
import { type Alias, CfnAlias } from 'aws-cdk-lib/aws-lambda';
import { CfnOutput, Fn } from 'aws-cdk-lib/core';
import { type ApusStack, OUTPUTS } from './apus-stack.ts';
import { BrokerFunction } from './broker-function.ts';
import { STAGE_NAME } from './defaults.ts';
import { DEPLOYMENT, DEPLOYMENTS } from './deployments.ts';

/** The host at which an emulator serves an API; names below `amazonaws.com` do not lead there. */
const API_PATH = '/_aws/execute-api';
/** The same for the URL of a function. */
const FUNCTION_URL_PATH = '/_aws/lambda-url';

/** The address of an emulator: AWS's own programs use this variable, and so does the app. */
export function emulatorEndpoint(environment: NodeJS.ProcessEnv): string | undefined {
  const endpoint = environment.AWS_ENDPOINT_URL;
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  return /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname)
    ? undefined
    : endpoint.replace(/\/$/, '');
}

/**
 * The differences of a deployment to an emulator (MiniStack): only addresses. Everything else is the template that AWS
 * gets. 1. The functions find @connections at the emulator. 2. The outputs have the URLs for clients and backends. 3.
 * Aliases move at once: it has no CodeDeploy.
 */
export function pointAtEmulator(stack: ApusStack, endpoint: string): void {
  const api = `${API_PATH}/${stack.broker.apiId}/${STAGE_NAME}`;
  for (const construct of stack.node.findAll()) {
    if (!(construct instanceof BrokerFunction)) continue;
    construct.addEnvironment(VARIABLES.managementEndpoint, `${endpoint}${api}`);
    if (construct.alias !== undefined) moveAtOnce(construct.alias);
  }
  stack.broker.node.tryRemoveChild(DEPLOYMENTS);
  changeOutput(stack, OUTPUTS.url, () => `${endpoint.replace(/^http/, 'ws')}${api}`);
  for (const name of [OUTPUTS.httpPublishUrl, OUTPUTS.httpApiUrl])
    changeOutput(stack, name, (url) => `${endpoint}${FUNCTION_URL_PATH}/${urlIdOf(url)}/`);
}

function moveAtOnce(alias: Alias): void {
  alias.node.tryRemoveChild(DEPLOYMENT);
  const { defaultChild } = alias.node;
  if (defaultChild instanceof CfnAlias) defaultChild.addDeletionOverride('UpdatePolicy');
}

function changeOutput(stack: ApusStack, name: string, change: (value: string) => string): void {
  const output = stack.node.tryFindChild(name);
  if (output instanceof CfnOutput) output.value = change(String(output.value));
}

/** Takes `ID` out of `https://ID.lambda-url.us-east-1.on.aws/`, which is only known at deployment. */
function urlIdOf(functionUrl: string): string {
  const host = Fn.select(2, Fn.split('/', functionUrl));
  return Fn.select(0, Fn.split('.', host));
}
