import { createRequire as requireFrom } from 'node:module';
import {
  type BrokerLimits,
  GATEWAY_QUOTAS,
  type GivenQuotaScopes,
  type QuotaScopes,
  readStreams,
  type StreamDeclarations,
  withQuotas,
} from '@apus/broker';
import { isTenant } from '@apus/identity';
import type { CheckedTopic } from '@apus/topics/checked';
import type { Topics } from '@apus/topics/document';
import { KEY_SHA256 } from '../api/access.ts';
import type { DescribedTopics } from '../api/async-api.ts';
import type { BreakerSettings } from '../api/breaker.ts';
import type { DeployedBridge } from '../api/bridges.ts';
import type { AllowedOrigins } from '../handshake/allowed-origins.ts';
import type { AwsCredentials } from '../http/sigv4.ts';
import { CUT_AFTER_MS_MAX, RESUME_SECONDS_MAX } from '../options.ts';
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

export type Variables = Readonly<Record<string, string | undefined>>;

/** A variable that the function cannot do without. */
export function required(variables: Variables, name: string): string {
  const value = variables[name];
  if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
  return value;
}

/** Those that Lambda gives to an execution environment, for as long as it lives. */
export function credentialsOf(variables: Variables): AwsCredentials {
  return {
    accessKeyId: required(variables, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(variables, 'AWS_SECRET_ACCESS_KEY'),
    sessionToken: variables.AWS_SESSION_TOKEN,
  };
}

/** A positive number, or the default where the variable is not set. */
export function numberOr<T>(variables: Variables, name: string, fallback: T): number | T {
  const value = variables[name];
  if (value === undefined || value === '') return fallback;
  const number = Number(value);
  if (!(number > 0)) throw new Error(`the environment variable ${name} is ${value}: it has to be above 0`);
  return number;
}

/** How sessions move and are resumed. Undefined where the variable is not set. */
export function movesOf(variables: Variables) {
  return {
    resumeSeconds: countUpTo(RESUME_SECONDS_MAX, variables, VARIABLES.resumeSeconds),
    cutAfterMs: countUpTo(CUT_AFTER_MS_MAX, variables, VARIABLES.cutAfterMs),
    withoutExtensions: variables[VARIABLES.withoutExtensions]?.split(','),
  };
}

function countUpTo(most: number, variables: Variables, name: string): number | undefined {
  const value = variables[name];
  if (value === undefined || value === '') return undefined;
  const count = Number(value);
  if (Number.isInteger(count) && count >= 0 && count <= most) return count;
  throw new Error(`the environment variable ${name} is ${value}: it has to be from 0 to ${most}`);
}

/** The quotas of the gateway door, with those of the deployment in their place. */
export function quotasOf(variables: Variables): QuotaScopes {
  const json = variables[VARIABLES.quotas];
  return withQuotas(GATEWAY_QUOTAS, json === undefined ? {} : (JSON.parse(json) as GivenQuotaScopes));
}

export function limitsOf(variables: Variables): Partial<BrokerLimits> {
  const json = variables[VARIABLES.limits];
  return json === undefined ? {} : (JSON.parse(json) as Partial<BrokerLimits>);
}

/** Undefined where there are none. */
export function streamsOf(variables: Variables): StreamsOptions | undefined {
  const json = variables[VARIABLES.streams];
  if (json === undefined || json === '') return undefined;
  return {
    declared: readStreams(JSON.parse(json), VARIABLES.streams),
    tableName: required(variables, VARIABLES.streamsTableName),
  };
}

/** Undefined where the deployment keeps no presence. */
export function presenceOf(variables: Variables): PresenceSettings | undefined {
  if (!isOn(variables, VARIABLES.presence)) return undefined;
  return { tableName: required(variables, VARIABLES.streamsTableName) };
}

/** The filters of the rules, and the URL of their queue. Undefined where there are none. */
export function rulesOf(
  variables: Variables,
): { readonly filters: readonly RuleFilter[]; readonly queueUrl: string } | undefined {
  const json = variables[VARIABLES.ruleFilters];
  if (json === undefined || json === '') return undefined;
  const list = JSON.parse(json) as readonly (readonly [string, string, string])[];
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
  const json = variables[VARIABLES.breaker];
  return json === undefined || json === '' ? undefined : (JSON.parse(json) as BreakerSettings);
}

/** Undefined where there are none. */
export function bridgesOf(variables: Variables): readonly DeployedBridge[] | undefined {
  const json = variables[VARIABLES.bridges];
  return json === undefined || json === '' ? undefined : (JSON.parse(json) as readonly DeployedBridge[]);
}

export function exportFormatOf(variables: Variables): ExportFormat {
  const given = required(variables, VARIABLES.usageExport);
  const format = EXPORT_FORMATS.find((each) => each === given);
  if (format !== undefined) return format;
  throw new Error(
    `the environment variable ${VARIABLES.usageExport} is ${given}: it has to be one of ${EXPORT_FORMATS.join(', ')}`,
  );
}

export function isUsageCounted(variables: Variables): boolean {
  return isOn(variables, VARIABLES.usage);
}

function isOn(variables: Variables, name: string): boolean {
  const value = variables[name];
  if (value === undefined || value === '' || value === 'off') return false;
  if (value === 'on') return true;
  throw new Error(`the environment variable ${name} is ${value}: it has to be on or off`);
}

/** Web pages that may connect. Without the variable those of every site may. */
export function allowedOriginsOf(variables: Variables): AllowedOrigins {
  const list = variables[VARIABLES.allowedOrigins];
  return list === undefined ? 'any' : list.split(',');
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
