import { CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ApusBroker } from './apus-broker.ts';
import type { ApusBrokerProps } from './props.ts';

export interface ApusStackProps extends StackProps {
  /** Props of the broker; or a function that returns them, if they refer to constructs of the stack. */
  readonly broker?: ApusBrokerProps | ((stack: ApusStack) => ApusBrokerProps);
}

/** Marks a stack as a broker's: a deployment refuses to overwrite any other. */
export const STACK_TAG = { key: 'apus:stack', value: 'broker' } as const;

/** Names of the stack's outputs. */
export const OUTPUTS = {
  url: 'Url',
  tableName: 'TableName',
  sessionsTableName: 'SessionsTableName',
  streamsTableName: 'StreamsTableName',
  tokenSecretArn: 'TokenSecretArn',
  httpPublishUrl: 'HttpPublishUrl',
  publishKeysArn: 'PublishKeysArn',
  httpApiUrl: 'HttpApiUrl',
  encryptionKeyArn: 'EncryptionKeyArn',
  usageBucketName: 'UsageBucketName',
  alarmTopicArn: 'AlarmTopicArn',
  breakerName: 'BreakerName',
  operatorName: 'OperatorName',
  rulesName: 'RulesName',
  dashboardUrl: 'DashboardUrl',
  domainTarget: 'DomainTarget',
} as const;

/** A stack with one broker and nothing else, for owners without a CDK app of their own. */
export class ApusStack extends Stack {
  readonly broker: ApusBroker;

  constructor(scope: Construct, id: string, { broker = {}, ...props }: ApusStackProps = {}) {
    super(scope, id, {
      description: 'Apus: an MQTT broker over WebSocket',
      ...props,
      tags: { ...props.tags, [STACK_TAG.key]: STACK_TAG.value },
    });
    Tags.of(this).add(STACK_TAG.key, STACK_TAG.value);
    const brokerProps = typeof broker === 'function' ? broker(this) : broker;
    this.broker = new ApusBroker(this, 'Broker', brokerProps);
    this.#output(OUTPUTS.url, this.broker.url, 'The URL that clients connect to');
    this.#output(OUTPUTS.tableName, this.broker.table.tableName, 'Messages and subscriptions');
    this.#output(OUTPUTS.sessionsTableName, this.broker.sessionsTable.tableName, 'Connections and sessions');
    this.#output(OUTPUTS.streamsTableName, this.broker.streamsTable?.tableName, 'The history of streams');
    this.#output(
      OUTPUTS.tokenSecretArn,
      this.broker.tokenSecret?.secretArn,
      'Signs tokens: apus token --secret-id …',
    );
    this.#output(
      OUTPUTS.httpPublishUrl,
      (brokerProps.httpPublish ?? false) === false ? undefined : this.broker.httpPublishUrl,
      'Where backends publish',
    );
    this.#output(
      OUTPUTS.httpApiUrl,
      (brokerProps.httpApi ?? false) === false ? undefined : this.broker.httpApiUrl,
      'The HTTP API of operators',
    );
    this.#output(OUTPUTS.publishKeysArn, this.broker.publishKeys?.secretArn, 'The key of backends');
    this.#output(
      OUTPUTS.encryptionKeyArn,
      this.broker.encryptionKey?.keyArn,
      'Encrypts the tables, the queues and the secrets',
    );
    this.#output(OUTPUTS.usageBucketName, this.broker.usageBucket?.bucketName, 'The usage of each day');
    this.#output(OUTPUTS.alarmTopicArn, this.broker.alarmTopic?.topicArn, 'Subscribe to hear of alarms');
    this.#output(
      OUTPUTS.breakerName,
      this.broker.breaker?.functionName,
      'Ends the stop of a runaway: invoke it with {"action":"reset"}',
    );
    this.#output(
      OUTPUTS.operatorName,
      this.broker.operator.functionName,
      'Kicks and bans: apus ban --stack …',
    );
    this.#output(
      OUTPUTS.rulesName,
      this.broker.rules?.functionName,
      'Shows rules and dead letters: apus rule list --stack …',
    );
    this.#output(OUTPUTS.dashboardUrl, this.#dashboardUrl(), 'Traffic, errors and cost');
    this.#output(
      OUTPUTS.domainTarget,
      this.broker.domainTarget,
      'The target of the DNS record for your domain name',
    );
  }

  #dashboardUrl(): string | undefined {
    const { dashboard } = this.broker;
    if (dashboard === undefined) return undefined;
    const console = `https://${this.region}.console.aws.amazon.com/cloudwatch/home?region=${this.region}`;
    return `${console}#dashboards/dashboard/${dashboard.dashboardName}`;
  }

  #output(name: string, value: string | undefined, description: string): void {
    if (value !== undefined) new CfnOutput(this, name, { value, description });
  }
}
