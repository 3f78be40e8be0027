import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { type Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { EventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { LambdaSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BREAKER_VARIABLES } from '../functions/breaker-variables.ts';
import { acknowledge } from './acknowledge.ts';
import type { GatewayStage } from './api.ts';
import { BrokerFunction } from './broker-function.ts';
import { MEMORY_MEGABYTES_SMALL } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import { createTopic } from './topic.ts';

/** The function waits for three services, and for retries of their clients. */
const TIMEOUT = Duration.seconds(60);

export interface BreakerConstructProps extends Pick<FunctionDefaults, 'logRetention' | 'logKey' | 'tracing'> {
  readonly stage: GatewayStage;
  readonly apiId: string;
  /** The event sources that it disables. */
  readonly eventSources: readonly EventSourceMapping[];
  /** The function of the publish URL; undefined without `httpPublish`. */
  readonly publish: IFunction | undefined;
  readonly publishReservedConcurrency: number | undefined;
  /** The alarm: more messages pass in a minute than the owner allows. */
  readonly alarm: Alarm;
  /** Minutes after which it closes by itself; 0: never. */
  readonly resetMinutes: number;
  /** The schedule on which it checks whether that time is over. */
  readonly schedule: Rule;
  /** The topic for notifications; undefined: the breaker only logs. */
  readonly topic: ITopic | undefined;
}

/** The breaker that stops a runaway: an alarm, its topic, and a function. */
export function createBreaker(scope: Construct, props: BreakerConstructProps): BrokerFunction {
  const { stage, apiId, eventSources, publish, publishReservedConcurrency, resetMinutes, alarm, topic } =
    props;
  const lambda = new BrokerFunction(scope, 'Breaker', {
    entry: 'breaker',
    description: 'Apus: stops a runaway, and ends the stop by itself or with {"action":"reset"}',
    environment: {
      [BREAKER_VARIABLES.apiId]: apiId,
      [BREAKER_VARIABLES.stageName]: stage.stage.stageName,
      [BREAKER_VARIABLES.framesPerSecond]: String(stage.framesPerSecond),
      [BREAKER_VARIABLES.burstFrames]: String(stage.burstFrames),
      [BREAKER_VARIABLES.eventSourceMappingIds]: eventSources
        .map(({ eventSourceMappingId }) => eventSourceMappingId)
        .join(','),
      ...(publish !== undefined && { [BREAKER_VARIABLES.publishFunctionName]: publish.functionName }),
      ...(publishReservedConcurrency !== undefined && {
        [BREAKER_VARIABLES.publishReservedConcurrency]: String(publishReservedConcurrency),
      }),
      ...(resetMinutes > 0 && { [BREAKER_VARIABLES.resetMinutes]: String(resetMinutes) }),
      ...(topic !== undefined && { [BREAKER_VARIABLES.topicArn]: topic.topicArn }),
    },
    timeout: TIMEOUT,
    memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
    logRetention: props.logRetention,
    logKey: props.logKey,
    tracing: props.tracing,
    hasAlias: false,
  });
  lambda.addToRolePolicy(
    new PolicyStatement({
      actions: ['apigateway:GET', 'apigateway:PATCH'],
      resources: [stage.arn],
    }),
  );
  lambda.addToRolePolicy(
    new PolicyStatement({
      actions: ['lambda:UpdateEventSourceMapping'],
      resources: eventSources.map(({ eventSourceMappingArn }) => eventSourceMappingArn),
    }),
  );
  if (publish !== undefined) {
    lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:PutFunctionConcurrency', 'lambda:DeleteFunctionConcurrency'],
        resources: [publish.functionArn],
      }),
    );
  }
  topic?.grantPublish(lambda);
  if (resetMinutes > 0) {
    const event = RuleTargetInput.fromObject({ action: 'look' });
    props.schedule.addTarget(new LambdaFunction(lambda, { event, retryAttempts: 0 }));
  }
  const trigger = createTopic(scope, 'BreakerTopic', 'Apus: runaway', props.logKey);
  trigger.addSubscription(new LambdaSubscription(lambda));
  acknowledge(
    lambda,
    'Serverless-SNSRedrivePolicy',
    'SNS tries for days to reach a function; when the function fails, an alarm of its own says so.',
  );
  alarm.addAlarmAction(new SnsAction(trigger));
  return lambda;
}
