import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { createAlarm, createAlarmTopic, tell } from './alarms.ts';
import type { GatewayApi, GatewayStage } from './api.ts';
import { createBreaker } from './breaker.ts';
import {
  alarmsOf,
  alarmsOnRequest,
  breakerFailed,
  httpApiAlarms,
  iotCoreAlarms,
  kafkaAlarms,
  publishErrors,
  publishesRefused,
  ruleAlarms,
  runaway,
  usageExportAlarms,
  type Watched,
  workerErrors,
} from './broker-alarms.ts';
import { createBudget } from './budget.ts';
import { createDashboard } from './dashboard.ts';
import { BREAKER_RESET_MINUTES, MESSAGES_PER_MINUTE_MAX } from './defaults.ts';
import { guardDeployments } from './deployments.ts';
import { eventSourcesOf } from './event-sources.ts';
import type { FunctionDefaults } from './functions.ts';
import type { ApusBrokerProps } from './props.ts';
import type { Sources } from './sources.ts';

export interface OperationsContext
  extends Watched,
    Pick<FunctionDefaults, 'logRetention' | 'logKey' | 'tracing'> {
  readonly api: GatewayApi;
  readonly stage: GatewayStage;
  readonly sources: Sources;
}

export interface Operations {
  readonly alarmTopic: ITopic | undefined;
  readonly breaker: IFunction | undefined;
  readonly dashboard: Dashboard | undefined;
}

/** The operations of a broker: alarms, the breaker, the dashboard. */
export function createOperations(
  scope: Construct,
  props: ApusBrokerProps,
  context: OperationsContext,
): Operations {
  const alarmTopic =
    props.alarms === false ? undefined : createAlarmTopic(scope, props.alarms ?? {}, context.logKey);
  if (alarmTopic !== undefined) {
    const { publish } = context;
    const ofBackends =
      publish === undefined ? [] : [publishErrors(publish), publishesRefused(context.metrics)];
    const definitions = [
      ...alarmsOf(context),
      ...ofBackends,
      ...httpApiAlarms(context),
      ...kafkaAlarms(context),
      ...iotCoreAlarms(context),
      ...ruleAlarms(context),
      ...usageExportAlarms(context),
      ...alarmsOnRequest(context, props.alarms || {}),
      ...(props.rollbackOnAlarm ? workerErrors(context) : []),
    ];
    const alarms = new Map(definitions.map((each) => [each.id, createAlarm(scope, each)]));
    for (const alarm of alarms.values()) tell(alarm, alarmTopic);
    if (props.rollbackOnAlarm) guardDeployments(scope, context, alarms);
  }
  if (props.budget !== undefined) createBudget(scope, props.budget);
  const breaker = props.breaker === false ? undefined : addBreaker(scope, props, context, alarmTopic);
  const dashboard = (props.dashboard ?? true) ? createDashboard(scope, context) : undefined;
  return { alarmTopic, breaker, dashboard };
}

/** The breaker has its alarm even if the owner wants no others. */
function addBreaker(
  scope: Construct,
  { breaker, publishReservedConcurrency }: ApusBrokerProps,
  context: OperationsContext,
  topic: ITopic | undefined,
): IFunction {
  const { metrics, stage, api, sources, publish, kafka, iotCore, rulesFunction } = context;
  const { logRetention, logKey, tracing } = context;
  const integrations = [...kafka, iotCore?.lambda, rulesFunction].filter((lambda) => lambda !== undefined);
  const { messagesPerMinuteMax = MESSAGES_PER_MINUTE_MAX, resetMinutes = BREAKER_RESET_MINUTES } =
    breaker === false ? {} : (breaker ?? {});
  const alarm = createAlarm(scope, runaway(metrics, messagesPerMinuteMax));
  const lambda = createBreaker(scope, {
    stage,
    apiId: api.api.apiId,
    eventSources: [sources.fanOut, ...integrations.flatMap(eventSourcesOf)],
    publish,
    publishReservedConcurrency,
    alarm,
    resetMinutes,
    schedule: sources.schedule,
    topic,
    logRetention,
    logKey,
    tracing,
  });
  if (topic !== undefined) {
    tell(alarm, topic);
    tell(createAlarm(scope, breakerFailed(lambda)), topic);
  }
  return lambda;
}
