import { VARIABLES } from '@apus/aws/lambda';
import {
  BRIDGE_VARIABLES,
  type GivenRule,
  iotCoreRegionOf,
  type KafkaNetwork,
  networkOfRules,
  readDeployedRules,
  ruleFiltersJson,
  secretArnsOf,
} from '@apus/bridges/lambda';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { ArnFormat, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import type { BrokerFunction } from './broker-function.ts';
import { RULE_CALLS_MAX, RULES_TIMEOUT } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import { NETWORK_ACTIONS } from './kafka.ts';
import type { Resources } from './permissions.ts';
import { PropsError } from './props-error.ts';
import { createQueueFunction } from './queue-function.ts';
import type { QueuePair } from './queues.ts';

/** All variables of a function together have 4 KB. */
const RULES_BYTES_MAX = 2_048;
/** Every function has the filters. */
const FILTERS_BYTES_MAX = 1_024;
/** Stands for a value that is only known at deployment, while a rule is checked. */
const UNKNOWN = {
  queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/unknown',
  endpoint: 'https://unknown.example',
  other: 'unknown',
};

export interface RulesFunctionProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly queues: QueuePair;
  readonly rules: readonly GivenRule[];
}

/** The function that sends messages to the targets of rules, and manages those that it gives up. */
export function createRulesFunction(scope: Construct, props: RulesFunctionProps): BrokerFunction {
  const { rules, ...others } = props;
  const lambda = createQueueFunction(scope, 'Rules', {
    ...others,
    entry: rulesEntryOf(rules),
    description: 'Apus: messages that leave by rules',
    variables: {
      [BRIDGE_VARIABLES.rules]: JSON.stringify(rules),
      [VARIABLES.deadLetterQueueUrl]: props.queues.deadLetters.queueUrl,
    },
    timeout: RULES_TIMEOUT,
    callsMax: RULE_CALLS_MAX,
  });
  // The owner reads them, sends them again and discards them.
  props.queues.deadLetters.grantConsumeMessages(lambda);
  for (const { to } of rules) grantTarget(lambda, to);
  placeIn(lambda, networkOfRules(rules, 'rules'));
  const secrets = secretArnsOf(rules);
  if (secrets.length > 0) grant(lambda, 'secretsmanager:GetSecretValue', secrets);
  return lambda;
}

/** With the Kafka client the function starts three times as slowly: it is included only if a rule needs it. */
export function rulesEntryOf(rules: readonly GivenRule[]): 'rules' | 'rulesKafka' {
  return rules.some(({ to }) => to.kafka !== undefined) ? 'rulesKafka' : 'rules';
}

/**
 * Calls to AWS services leave the subnets through a NAT gateway or endpoints, which the owner provides
 * (docs/bridges.md).
 */
function placeIn(lambda: BrokerFunction, network: KafkaNetwork | undefined): void {
  if (network === undefined) return;
  const { subnets, securityGroups } = network;
  (lambda.node.defaultChild as CfnFunction).vpcConfig = {
    subnetIds: [...subnets],
    securityGroupIds: [...securityGroups],
  };
  lambda.addToRolePolicy(new PolicyStatement({ actions: [...NETWORK_ACTIONS], resources: ['*'] }));
  acknowledgeWildcard(lambda.ownRole, '*', 'Lambda makes network interfaces that have no name before.');
}

function grant(lambda: BrokerFunction, action: string, resources: readonly string[]): void {
  lambda.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [...resources] }));
}

/**
 * The owner has to grant access to a target whose name is only known at deployment:
 * `queue.grantSendMessages(broker.rules)`.
 */
function grantTarget(lambda: BrokerFunction, to: GivenRule['to']): void {
  const { sqs, eventBridge, iotCore, lambda: called } = to;
  const stack = Stack.of(lambda);
  if (iotCore !== undefined) grantTopics(lambda, iotCore);
  const arnOf = (service: string, resource: string, name: string, to: Readonly<Record<string, unknown>>) =>
    name.startsWith('arn:')
      ? name
      : stack.formatArn({
          ...{ service, resource, resourceName: name },
          ...(typeof to.region === 'string' && { region: to.region }),
          arnFormat: service === 'lambda' ? ArnFormat.COLON_RESOURCE_NAME : ArnFormat.SLASH_RESOURCE_NAME,
        });
  if (sqs !== undefined) {
    const arn = queueArnOf(stack, String(sqs.queueUrl));
    if (arn !== undefined) grant(lambda, 'sqs:SendMessage', [arn]);
  }
  if (eventBridge !== undefined)
    grant(lambda, 'events:PutEvents', [
      arnOf('events', 'event-bus', String(eventBridge.bus ?? 'default'), eventBridge),
    ]);
  if (called === undefined) return;
  const arn = arnOf('lambda', 'function', String(called.function), called);
  if (Token.isUnresolved(called.function)) return;
  grant(lambda, 'lambda:InvokeFunction', [arn]);
}

/** The topics of IoT Core that a rule's template can produce. */
function grantTopics(
  lambda: BrokerFunction,
  { topic, endpoint, retain, ...to }: Readonly<Record<string, unknown>>,
): void {
  const region = to.region ?? iotCoreRegionOf(String(endpoint));
  const resource = Stack.of(lambda).formatArn({
    ...{ service: 'iot', resource: 'topic', resourceName: String(topic).replaceAll(/\{[^{}]*\}/g, '*') },
    ...(typeof region === 'string' && { region }),
  });
  grant(lambda, 'iot:Publish', [resource]);
  if (retain === true) grant(lambda, 'iot:RetainPublish', [resource]);
  if (resource.includes('*'))
    acknowledgeWildcard(lambda.ownRole, resource, 'The topic of a message is a part of that at IoT Core.');
}

function queueArnOf(stack: Stack, queueUrl: string): string | undefined {
  if (Token.isUnresolved(queueUrl)) return undefined;
  const [, region, account, name] =
    /^https:\/\/sqs\.([\w-]+)\.[^/]+\/(\d{12})\/([\w.-]+)$/.exec(queueUrl) ?? [];
  return name === undefined ? undefined : `arn:${stack.partition}:sqs:${region}:${account}:${name}`;
}

/** @throws {PropsError} */
export function checkRules(scope: IConstruct, rules: readonly GivenRule[]): void {
  if (rules.length === 0) return;
  try {
    readDeployedRules(JSON.parse(JSON.stringify(rules, withoutTokens)), 'rules', () => 'secret');
  } catch (error) {
    throw new PropsError(scope, (error as Error).message);
  }
  checkBytes(scope, 'rules', JSON.stringify(rules), RULES_BYTES_MAX);
  checkBytes(scope, 'the filters of rules', ruleFiltersJson(rules), FILTERS_BYTES_MAX);
}

function withoutTokens(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !Token.isUnresolved(value)) return value;
  return key === 'queueUrl' || key === 'endpoint' ? UNKNOWN[key] : UNKNOWN.other;
}

function checkBytes(scope: IConstruct, what: string, json: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(json);
  if (bytes <= bytesMax) return;
  throw new PropsError(
    scope,
    `${what} have ${bytes} bytes as JSON, and a function takes ${bytesMax}: some ten rules. A filter with wildcards covers many topics.`,
  );
}
