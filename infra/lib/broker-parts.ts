import { ALIVE_ROUTE } from '@apus/aws/lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { GatewayApi, type GatewayStage } from './api.ts';
import { createVerification, type SecretProps, type Verification } from './authentication.ts';
import { breakerJson } from './breaker-settings.ts';
import { type BrokerFunction, calledAs } from './broker-function.ts';
import { createBackups, serviceKeyOf } from './compliance.ts';
import { MEMORY_MEGABYTES, POSTS_PER_SECOND } from './defaults.ts';
import { sharedEnvironment } from './environment.ts';
import { type FunctionDefaults, Functions } from './functions.ts';
import { HttpApi } from './http-api.ts';
import { HttpPublish } from './http-publish.ts';
import { authorizationFunctionOf, isSigned } from './identity.ts';
import { createIotCoreSources, type IotCoreSources } from './iot-core.ts';
import { createKafkaSources } from './kafka.ts';
import { BrokerMetrics, namespaceOf } from './metrics.ts';
import { createOperations, type Operations } from './operations.ts';
import { createPayloadChecks } from './payload-checks.ts';
import type { Resources } from './permissions.ts';
import type { ApusBrokerProps } from './props.ts';
import { PropsError } from './props-error.ts';
import { createFanOutQueue, createRuleQueues, createTimerQueue } from './queues.ts';
import { createRotation } from './rotation.ts';
import { createRulesFunction } from './rules.ts';
import { connectSources, fanOutBudget } from './sources.ts';
import { StateTables } from './table.ts';
import { tableMaximumOf } from './table-maximum.ts';
import { UsageExport } from './usage-export.ts';

/** The parts of a broker in an account. Those that its props do not ask for are undefined. */
export interface BrokerParts {
  readonly resources: Resources;
  readonly verification: Verification;
  readonly functions: Functions;
  readonly stage: GatewayStage;
  readonly httpPublish: HttpPublish | undefined;
  readonly httpApi: HttpApi | undefined;
  readonly rules: BrokerFunction | undefined;
  readonly usageExport: UsageExport | undefined;
  readonly metrics: BrokerMetrics;
  readonly operations: Operations;
}

/** The properties that all functions share, and the resources that they may be allowed to use. */
type Common = FunctionDefaults & { readonly resources: Resources };

export function createParts(scope: Construct, props: ApusBrokerProps): BrokerParts {
  const resources = createResources(scope, props);
  if (props.compliance === true) createBackups(scope, resources.state, props.encryptionKey);
  const namespace = props.metricsNamespace ?? namespaceOf(scope);
  const secretProps = { removalPolicy: removalPolicyOf(props), encryptionKey: props.encryptionKey };
  const verification = createVerification(scope, props, secretProps);
  const common = commonOf(scope, props, resources, namespace, verification);
  const budget = fanOutBudget(props.fanOut?.maxPostsPerSecond ?? POSTS_PER_SECOND);
  const functions = createFunctions(scope, props, common, verification, budget.postsPerWorkerSecond);
  const stage = createStage(props, resources.api, functions);
  const sources = connectSources(scope, functions, resources, budget);
  rotate(scope, props, verification, common);
  const httpPublish = createHttpPublish(scope, props, common, secretProps);
  const integrations = createIntegrations(scope, props, common);
  const httpApi = createHttpApi(scope, props, common, stage, integrations.rules);
  const usageExport = exportUsage(scope, props, common);
  const metrics = new BrokerMetrics(namespace, resources.api);
  const operations = createOperations(scope, props, {
    ...common,
    ...resources,
    ...{ metrics, functions, stage, sources },
    publish: httpPublish?.lambda,
    httpApi: httpApi?.lambda,
    kafka: integrations.kafka,
    iotCore: integrations.iotCore,
    rulesFunction: integrations.rules,
    usageExport: usageExport?.lambda,
    hasTenantMetrics: props.tenantMetrics !== undefined,
  });
  const { rules } = integrations;
  return {
    ...{ resources, verification, functions, stage, httpPublish, httpApi, rules, usageExport },
    ...{ metrics, operations },
  };
}

export function removalPolicyOf({ removalPolicy }: ApusBrokerProps): RemovalPolicy {
  return removalPolicy ?? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

function createResources(scope: Construct, props: ApusBrokerProps): Resources {
  const { encryptionKey } = props;
  const state = new StateTables(scope, {
    ...props.table,
    maximum: tableMaximumOf(props),
    hasStreams: (props.streams ?? []).length > 0,
    hasPresence: props.presence === true,
    removalPolicy: removalPolicyOf(props),
    ...(encryptionKey !== undefined && { encryptionKey }),
  });
  const fanOut = createFanOutQueue(scope, encryptionKey);
  const timers = createTimerQueue(scope, encryptionKey);
  const rules = (props.rules ?? []).length > 0 ? createRuleQueues(scope, encryptionKey) : undefined;
  const authorizationFunction = authorizationFunctionOf(props);
  return { state, fanOut, timers, rules, api: new GatewayApi(scope), authorizationFunction };
}

function commonOf(
  scope: Construct,
  props: ApusBrokerProps,
  resources: Resources,
  namespace: string,
  verification: Verification,
): Common {
  const checks = createPayloadChecks(scope, props.topics);
  return {
    environment: {
      ...sharedEnvironment(resources, props, namespace),
      ...verification.sharedVariables,
      ...checks?.variables,
    },
    layers: checks === undefined ? [] : [checks.layer],
    memorySizeMegabytes: props.memorySizeMegabytes ?? MEMORY_MEGABYTES,
    logRetention: props.logRetention ?? RetentionDays.TWO_WEEKS,
    logKey: serviceKeyOf(props),
    tracing: props.tracing ?? false,
    resources,
  };
}

function createFunctions(
  scope: Construct,
  { reservedConcurrency, rollbackOnAlarm: hasAliases = false }: ApusBrokerProps,
  common: Common,
  verification: Verification,
  postsPerWorkerSecond: number,
): Functions {
  return new Functions(scope, {
    ...common,
    ...{ verification, postsPerWorkerSecond, reservedConcurrency, hasAliases },
  });
}

function createStage(
  props: ApusBrokerProps,
  api: GatewayApi,
  { gateway, disconnect }: Functions,
): GatewayStage {
  const { accessLogs = false, withoutExtensions = [] } = props;
  api.route(calledAs(gateway), calledAs(disconnect), isSigned(props));
  if (!withoutExtensions.includes(ALIVE_ROUTE)) api.routeSignsOfLife();
  return api.createStage({
    throttle: props.throttle ?? {},
    accessLogs: accessLogs === false ? undefined : accessLogs === true ? {} : accessLogs,
    domain: props.domain,
    logKey: serviceKeyOf(props),
  });
}

function rotate(
  scope: Construct,
  { rotateTokenSecretDays: days }: ApusBrokerProps,
  { secret }: Verification,
  { logRetention, logKey, tracing }: Common,
): void {
  if (days === undefined) return;
  if (secret instanceof Secret) createRotation(scope, { secret, days, logRetention, logKey, tracing });
  else
    throw new PropsError(
      scope,
      'rotateTokenSecretDays is for the secret that the stack generates, and there is none.',
    );
}

function createHttpPublish(
  scope: Construct,
  props: ApusBrokerProps,
  common: Common,
  secretProps: SecretProps,
): HttpPublish | undefined {
  const { httpPublish: protection = false } = props;
  if (protection === false) return undefined;
  return new HttpPublish(scope, {
    ...common,
    protection,
    secretProps,
    tenants: props.httpPublishTenants,
    reservedConcurrency: props.publishReservedConcurrency,
    hasAlias: props.rollbackOnAlarm ?? false,
    keysSecret: props.publishKeysSecret,
  });
}

interface Integrations {
  readonly rules: BrokerFunction | undefined;
  readonly kafka: readonly BrokerFunction[];
  readonly iotCore: IotCoreSources | undefined;
}

function createIntegrations(scope: Construct, props: ApusBrokerProps, common: Common): Integrations {
  const { rules: given = [], kafka = [], iotCore = [], encryptionKey } = props;
  const queues = common.resources.rules;
  return {
    rules: queues && createRulesFunction(scope, { ...common, queues, rules: given }),
    kafka: createKafkaSources(scope, { ...common, bridges: kafka }),
    iotCore: createIotCoreSources(scope, { ...common, bridges: iotCore, encryptionKey }),
  };
}

function createHttpApi(
  scope: Construct,
  props: ApusBrokerProps,
  common: Common,
  stage: GatewayStage,
  rules: BrokerFunction | undefined,
): HttpApi | undefined {
  const { httpApi: protection = false } = props;
  if (protection === false) return undefined;
  return new HttpApi(scope, {
    ...common,
    ...{ protection, stage, rules },
    breaker: breakerJson(props, common.resources.api, stage),
    bridges: props,
    topics: props.topics,
    clientUrl: props.domain === undefined ? undefined : stage.url,
    allowedOrigins: props.allowedOrigins,
    reservedConcurrency: props.apiReservedConcurrency,
  });
}

function exportUsage(scope: Construct, props: ApusBrokerProps, common: Common): UsageExport | undefined {
  const { usageExport: format, encryptionKey, compliance: isVersioned = false } = props;
  if (format === undefined) return undefined;
  const { table } = common.resources.state;
  const removalPolicy = removalPolicyOf(props);
  return new UsageExport(scope, { ...common, table, format, encryptionKey, removalPolicy, isVersioned });
}
