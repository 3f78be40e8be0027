import { VARIABLES } from '@apus/aws/lambda';
import { type Alias, CfnAlias } from 'aws-cdk-lib/aws-lambda';
import { Fn } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
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

export function emulatedUrl(endpoint: string, apiId: string): string {
  return `${endpoint.replace(/^http/, 'ws')}${apiPathOf(apiId)}`;
}

/** Takes `ID` out of `https://ID.lambda-url.us-east-1.on.aws/`, which is only known at deployment. */
export function emulatedFunctionUrl(endpoint: string, functionUrl: string): string {
  const host = Fn.select(2, Fn.split('/', functionUrl));
  return `${endpoint}${FUNCTION_URL_PATH}/${Fn.select(0, Fn.split('.', host))}/`;
}

/** The functions find @connections at the emulator, and aliases move at once: it has no CodeDeploy. */
export function adaptToEmulator(broker: IConstruct, endpoint: string, apiId: string): void {
  for (const construct of broker.node.findAll()) {
    if (!(construct instanceof BrokerFunction)) continue;
    construct.addEnvironment(VARIABLES.managementEndpoint, `${endpoint}${apiPathOf(apiId)}`);
    if (construct.alias !== undefined) moveAtOnce(construct.alias);
  }
  broker.node.tryRemoveChild(DEPLOYMENTS);
}

function apiPathOf(apiId: string): string {
  return `${API_PATH}/${apiId}/${STAGE_NAME}`;
}

function moveAtOnce(alias: Alias): void {
  alias.node.tryRemoveChild(DEPLOYMENT);
  const { defaultChild } = alias.node;
  if (defaultChild instanceof CfnAlias) defaultChild.addDeletionOverride('UpdatePolicy');
}
