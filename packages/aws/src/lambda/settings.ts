import { createRequire as requireFrom } from 'node:module';
import {
  GATEWAY_QUOTAS,
  type QuotaScopes,
  readStreams,
  type StreamDeclarations,
  withQuotas,
} from '@apus/broker';
import { isTenant } from '@apus/identity';
import type { CheckedTopic } from '@apus/topics/checked';
import type { Topics } from '@apus/topics/document';
import { KEY_SHA256 } from '../api/access.ts';
import type { BreakerSettings } from '../api/breaker.ts';
import type { DeployedBridge, DescribedTopics } from '../api/systems.ts';
import { type FunctionOptions, readOption, type Variables, variableOf } from '../function-options.ts';
import type { AwsCredentials } from '../http/sigv4.ts';
import type { RuleFilter } from '../rules/rule-outlet.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../usage/export/export-usage.ts';
import { VARIABLES } from './variables.ts';

/** The streams of a deployment, and the table of their history. */
export interface StreamsOptions {
  readonly declared: StreamDeclarations;
  readonly tableName: string;
}

/** The table of the rooms of a deployment. */
export interface PresenceSettings {
  readonly tableName: string;
}

/** A variable that the function cannot do without. */
export function required(variables: Variables, name: string): string {
  return variables[name] || unset(name);
}

function unset(name: string): never {
  throw new Error(`the environment variable ${name} is not set`);
}

/** Those that Lambda gives to an execution environment, for as long as it lives. */
export function credentialsOf(variables: Variables): AwsCredentials {
  return {
    accessKeyId: required(variables, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(variables, 'AWS_SECRET_ACCESS_KEY'),
    sessionToken: variables.AWS_SESSION_TOKEN,
  };
}

/** The quotas of the gateway door, with those of the deployment in their place. */
export function quotasOf({ quotas = {} }: FunctionOptions): QuotaScopes {
  return withQuotas(GATEWAY_QUOTAS, quotas);
}

/** Undefined where there are none. */
export function streamsOf({ streams }: FunctionOptions, variables: Variables): StreamsOptions | undefined {
  if (streams === undefined) return undefined;
  return {
    declared: readStreams(streams, variableOf('streams')),
    tableName: required(variables, VARIABLES.streamsTableName),
  };
}

/** Undefined where the deployment keeps no presence. */
export function presenceOf(
  { presence }: FunctionOptions,
  variables: Variables,
): PresenceSettings | undefined {
  return presence ? { tableName: required(variables, VARIABLES.streamsTableName) } : undefined;
}

type RuleList = readonly (readonly [tenant: string, name: string, filter: string])[];

/** The filters of the rules, and the URL of their queue. Undefined where there are none. */
export function rulesOf(
  variables: Variables,
): { readonly filters: readonly RuleFilter[]; readonly queueUrl: string } | undefined {
  const list = readOption(variables, VARIABLES.ruleFilters, { kind: 'json', type: [] as RuleList });
  if (list === undefined) return undefined;
  return {
    filters: list.map(([tenant, name, filter]) => ({ tenant, name, filter })),
    queueUrl: required(variables, VARIABLES.ruleQueueUrl),
  };
}

/** The compiled schemas of payloads, which a layer brings: Lambda sets NODE_PATH to it. Undefined where there are none. */
export function payloadChecksOf(variables: Variables): readonly CheckedTopic[] | undefined {
  const name = variables[VARIABLES.payloadChecks];
  if (name === undefined || name === '') return undefined;
  return requireFrom(import.meta.url)(name) as readonly CheckedTopic[];
}

/** The topics that the owner has described, which a layer brings, and where their clients connect. Undefined where there are none. */
export function describedTopicsOf(variables: Variables): DescribedTopics | undefined {
  const name = variables[VARIABLES.describedTopics];
  if (name === undefined || name === '') return undefined;
  const managementEndpoint = required(variables, VARIABLES.managementEndpoint);
  const url = variables[VARIABLES.clientUrl] ?? managementEndpoint.replace(/^http/, 'ws');
  const isOpen = variables[VARIABLES.authentication] === 'anonymous';
  const topics = requireFrom(import.meta.url)(name) as Topics;
  return { topics, server: { name: 'gateway', url, door: 'gateway', isOpen } };
}

/** Undefined where the deployment has none. */
export function breakerOf(variables: Variables): BreakerSettings | undefined {
  return readOption(variables, VARIABLES.breaker, { kind: 'json', type: {} as BreakerSettings });
}

/** Undefined where there are none. */
export function bridgesOf(variables: Variables): readonly DeployedBridge[] | undefined {
  return readOption(variables, VARIABLES.bridges, { kind: 'json', type: [] as readonly DeployedBridge[] });
}

export function exportFormatOf(variables: Variables): ExportFormat {
  const format = { kind: 'choice', choices: EXPORT_FORMATS } as const;
  return readOption(variables, VARIABLES.usageExport, format) ?? unset(VARIABLES.usageExport);
}

/** Tenants that a backend may speak for that signs its requests; undefined: the default one. */
export function publishTenantsOf(variables: Variables): readonly [string, ...string[]] | undefined {
  const [first, ...others] = variables[VARIABLES.publishTenants]?.split(',') ?? [];
  if (first === undefined) return undefined;
  const wrong = [first, ...others].find((each) => !isTenant(each));
  if (wrong === undefined) return [first, ...others];
  throw new Error(`the environment variable ${VARIABLES.publishTenants} has "${wrong}", which is no tenant`);
}

/** Hashes of the keys of operators; undefined: requests are signed for AWS. */
export function apiKeysOf(variables: Variables): readonly string[] | undefined {
  const hashes = variables[VARIABLES.apiKeysSha256]?.split(',');
  const wrong = hashes?.find((each) => !KEY_SHA256.test(each));
  if (wrong === undefined) return hashes;
  throw new Error(
    `the environment variable ${VARIABLES.apiKeysSha256} has "${wrong}", which is no SHA-256 in hex`,
  );
}
