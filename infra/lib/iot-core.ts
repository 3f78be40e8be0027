import {
  BRIDGE_VARIABLES,
  type GivenIotCoreBridge,
  iotCoreSourcesJson,
  iotRuleSql,
  readIotCoreSources,
} from '@apus/bridges/lambda';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnTopicRule } from 'aws-cdk-lib/aws-iot';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct, IConstruct } from 'constructs';
import { acknowledgeRole, type BrokerFunction } from './broker-function.ts';
import { WORKER_TIMEOUT } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import type { Resources } from './permissions.ts';
import { PropsError } from './props-error.ts';
import { createQueueFunction } from './queue-function.ts';
import { createIotCoreQueue, type QueuePair } from './queues.ts';

/** All variables of a function have 4 KB together. */
const VARIABLE_BYTES_MAX = 2_048;
/** From this version on the SQL can encode a payload that is no JSON. */
const SQL_VERSION = '2016-03-23';

export interface IotCoreSourcesProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly bridges: readonly GivenIotCoreBridge[];
  readonly encryptionKey: IKey | undefined;
}

/** The resources that bring messages from AWS IoT Core to the broker. */
export interface IotCoreSources {
  readonly lambda: BrokerFunction;
  readonly queues: QueuePair;
}

/**
 * IoT rules that send messages to a queue, and the function of the queue. An IoT rule would call a function directly
 * only three times; a queue keeps messages for days, and ten of them share an invocation.
 */
export function createIotCoreSources(
  scope: Construct,
  props: IotCoreSourcesProps,
): IotCoreSources | undefined {
  if (props.bridges.length === 0) return undefined;
  const { bridges, encryptionKey, ...others } = props;
  const queues = createIotCoreQueue(scope, encryptionKey);
  const lambda = createQueueFunction(scope, 'IotCore', {
    ...{ ...others, queues },
    entry: 'iotCore',
    description: 'Apus: messages of AWS IoT Core',
    variables: { [BRIDGE_VARIABLES.iotCore]: iotCoreSourcesJson(bridges) },
    timeout: WORKER_TIMEOUT,
  });
  const role = new Role(scope, 'IotRulesRole', { assumedBy: new ServicePrincipal('iot.amazonaws.com') });
  acknowledgeRole(role);
  queues.queue.grantSendMessages(role);
  queues.deadLetters.grantSendMessages(role);
  for (const [index, { in: into }] of readIotCoreSources(bridges, 'iotCore').entries())
    for (const [at, mapping] of into.entries())
      createRule(scope, `IotCoreRule${index}x${at}`, iotRuleSql(mapping), queues, role);
  return { lambda, queues };
}

function createRule(scope: Construct, id: string, sql: string, queues: QueuePair, { roleArn }: Role): void {
  const into = ({ queueUrl }: { readonly queueUrl: string }) => ({
    sqs: { queueUrl, roleArn, useBase64: false },
  });
  new CfnTopicRule(scope, id, {
    topicRulePayload: {
      sql,
      awsIotSqlVersion: SQL_VERSION,
      description: 'Apus: messages of IoT Core for its clients',
      actions: [into(queues.queue)],
      errorAction: into(queues.deadLetters),
    },
  });
}

/** @throws {PropsError} */
export function checkIotCore(scope: IConstruct, bridges: readonly GivenIotCoreBridge[]): void {
  if (bridges.length === 0) return;
  try {
    readIotCoreSources(bridges, 'iotCore');
  } catch (error) {
    throw new PropsError(scope, (error as Error).message);
  }
  const bytes = Buffer.byteLength(iotCoreSourcesJson(bridges));
  if (bytes > VARIABLE_BYTES_MAX)
    throw new PropsError(
      scope,
      `the mappings of iotCore have ${bytes} bytes as JSON, and a function takes ${VARIABLE_BYTES_MAX}: some thirty. A filter with wildcards covers many topics.`,
    );
}
