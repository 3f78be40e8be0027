import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import type { AlarmDefinition } from './alarms.ts';
import type { BrokerFunction } from './broker-function.ts';
import type { Functions } from './functions.ts';
import type { IotCoreSources } from './iot-core.ts';
import { type BrokerMetrics, failuresOf } from './metrics.ts';
import type { AlarmProps } from './props.ts';
import type { QueuePair } from './queues.ts';
import type { BrokerTable, StateTables } from './table.ts';

/** The resources that alarms watch. */
export interface Watched {
  readonly metrics: BrokerMetrics;
  readonly functions: Functions;
  /** The function of the publish URL; undefined without `httpPublish`. */
  readonly publish: BrokerFunction | undefined;
  /** The function of the HTTP API of operators; undefined without `httpApi`. */
  readonly httpApi: BrokerFunction | undefined;
  /** Functions of bridges from Kafka. */
  readonly kafka: readonly BrokerFunction[];
  /** Undefined without bridges from AWS IoT Core. */
  readonly iotCore: IotCoreSources | undefined;
  /** Undefined without rules. */
  readonly rulesFunction: BrokerFunction | undefined;
  readonly rules: QueuePair | undefined;
  /** The largest tenants have metrics of their own. */
  readonly hasTenantMetrics: boolean;
  /** Undefined if usage is not exported. */
  readonly usageExport: BrokerFunction | undefined;
  readonly fanOut: QueuePair;
  readonly timers: QueuePair;
  readonly state: StateTables;
}

const MINUTE = { period: Duration.minutes(1) };
/** A sweep runs every ten minutes; one may fail. */
const SWEEPS = { period: Duration.minutes(30) };

/** The age beyond which QoS 0 messages are of little use to subscribers. */
const FAN_OUT_DELAY_SECONDS = 30;
/**
 * A normal day with many slow phones stays below it, as does a gateway that fails now and then. One connection that
 * cannot be closed is tried this often.
 */
const POSTS_FAILED_PER_MINUTE = 20;
/**
 * mqtt.js sends a failed frame again after it has reconnected; a few a minute come from networks that fail somewhere.
 */
const GATEWAY_ERRORS_PER_MINUTE = 5;
/** A backend with a wrong key stays below it. At 512 MB this many a minute cost a few cents a day. */
const PUBLISHES_REFUSED_PER_MINUTE = 600;
/** An operator's page with a replaced key stays far below it; an attacker who guesses keys is above. */
const API_REQUESTS_REFUSED_PER_MINUTE = 60;
/** Timers are late if this many are due and wait. */
const TIMERS_WAITING = 1_000;
/** A few retries of a message whose target is unavailable for a moment stay below it. */
const RULE_DELAY_SECONDS = 300;

/**
 * The alarms of a broker, except that of the breaker. Each metric of an alarm is $0.10 a month beyond an account's
 * first ten.
 */
export function alarmsOf({ metrics, functions, fanOut, timers, state }: Watched): readonly AlarmDefinition[] {
  return [
    {
      id: 'GatewayErrors',
      description: 'Frames or handshakes of clients failed.',
      // `IntegrationError` of the API also counts handshakes that are refused, as for a wrong token.
      metric: functions.gateway.metricErrors(MINUTE),
      threshold: GATEWAY_ERRORS_PER_MINUTE,
      periods: 2,
    },
    {
      id: 'FunctionThrottles',
      description: "Lambda refused to run the gateway's function: the account's concurrency is used up.",
      metric: functions.gateway.metricThrottles(MINUTE),
      threshold: 0,
      periods: 2,
    },
    {
      id: 'FanOutDelay',
      description: 'Messages of wide filters wait for workers.',
      metric: fanOut.queue.metricApproximateAgeOfOldestMessage(MINUTE),
      threshold: FAN_OUT_DELAY_SECONDS,
      periods: 2,
    },
    {
      id: 'FanOutDeadLetters',
      description: 'A job for the fan-out was given up.',
      metric: fanOut.deadLetters.metricApproximateNumberOfMessagesVisible(MINUTE),
      threshold: 0,
      periods: 1,
    },
    {
      id: 'TimerDeadLetters',
      description: 'A timer of a will or a session was given up.',
      metric: timers.deadLetters.metricApproximateNumberOfMessagesVisible(MINUTE),
      threshold: 0,
      periods: 1,
    },
    {
      id: 'TimerDelay',
      description: 'Wills and the ends of sessions are late.',
      metric: timers.queue.metricApproximateNumberOfMessagesVisible(MINUTE),
      threshold: TIMERS_WAITING,
      periods: 5,
    },
    throttlesOf(state.table, 'TableThrottles', 'messages'),
    throttlesOf(state.sessionsTable, 'SessionsTableThrottles', 'sessions'),
    ...(state.streamsTable === undefined
      ? []
      : [throttlesOf(state.streamsTable, 'StreamsTableThrottles', 'streams')]),
    {
      id: 'PostsFailed',
      description:
        'The gateway fails or is throttled, or many clients read slowly: they miss messages, or were closed.',
      metric: metrics.postsFailed(),
      threshold: POSTS_FAILED_PER_MINUTE,
      periods: 3,
    },
    {
      id: 'SweepFailed',
      description: 'Lost connections, wills and sessions are no longer looked for.',
      metric: functions.sweep.metricErrors(SWEEPS),
      threshold: 1,
      periods: 1,
    },
  ];
}

function throttlesOf(table: BrokerTable, id: string, holds: string): AlarmDefinition {
  return {
    id,
    description: `DynamoDB refused writes of ${holds}: a partition is too busy, or the table is at its maximum.`,
    metric: table.metric('WriteThrottleEvents', { statistic: 'Sum', ...MINUTE }),
    threshold: 0,
    periods: 3,
  };
}

/** The alarms that the owner has to ask for. */
export function alarmsOnRequest(
  { functions, metrics }: Watched,
  { frameMilliseconds, messagesDropped, sweepMissing = false }: AlarmProps,
): readonly AlarmDefinition[] {
  return [
    ...(frameMilliseconds === undefined ? [] : [frameLatency(functions.gateway, frameMilliseconds)]),
    ...(messagesDropped === undefined ? [] : [droppedMessages(metrics, messagesDropped)]),
    ...(sweepMissing ? [missingSweep(functions.sweep)] : []),
  ];
}

function frameLatency(gateway: IFunction, frameMilliseconds: number): AlarmDefinition {
  return {
    id: 'FrameLatency',
    description: 'One frame in a hundred takes longer than it should.',
    metric: gateway.metricDuration({ ...MINUTE, statistic: Stats.percentile(99) }),
    threshold: frameMilliseconds,
    periods: 5,
  };
}

function droppedMessages(metrics: BrokerMetrics, messagesDropped: number): AlarmDefinition {
  return {
    id: 'MessagesDropped',
    description:
      'Messages were dropped: clients read slowly or stay away, posts fail, or the broker is out of time.',
    metric: metrics.messagesDropped(),
    threshold: messagesDropped,
    periods: 5,
  };
}

function missingSweep(sweep: IFunction): AlarmDefinition {
  return {
    id: 'SweepMissing',
    description: 'No sweep has run for half an hour.',
    metric: sweep.metricInvocations(SWEEPS),
    threshold: 1,
    periods: 1,
    isBelow: true,
  };
}

/** Alarms for failing workers: what they fail at is tried for minutes before it is a dead letter. */
export function workerErrors({
  functions: { fanOut, timers },
  metrics,
}: Watched): readonly AlarmDefinition[] {
  const often = { threshold: GATEWAY_ERRORS_PER_MINUTE, periods: 2 };
  return [
    {
      id: 'FanOutErrors',
      description: 'Workers of wide filters failed.',
      metric: failuresOf(fanOut, metrics.fanOutJobsFailed()),
      ...often,
    },
    {
      id: 'TimerErrors',
      description: 'Workers of wills and of the ends of sessions failed.',
      metric: failuresOf(timers, metrics.timersFailed()),
      ...often,
    },
  ];
}

/** Further alarms if backends publish. */
export function publishErrors(publish: IFunction): AlarmDefinition {
  return {
    id: 'PublishErrors',
    description: 'Publishes of backends over HTTPS failed.',
    metric: publish.metricErrors(MINUTE),
    threshold: 0,
    periods: 2,
  };
}

/** Alarm for a flood of the public URL, or a backend with a wrong key: Lambda bills refused requests. */
export function publishesRefused(metrics: BrokerMetrics): AlarmDefinition {
  return {
    id: 'PublishesRefused',
    description: 'Many requests to the publish URL were refused.',
    metric: metrics.publishesRefused(),
    threshold: PUBLISHES_REFUSED_PER_MINUTE,
    periods: 3,
  };
}

/** Alarms for the operators' API: it fails, or is flooded; Lambda bills refused requests. */
export function httpApiAlarms({ httpApi }: Watched): readonly AlarmDefinition[] {
  if (httpApi === undefined) return [];
  return [
    {
      id: 'ApiErrors',
      section: 'OperatorApiErrors',
      description: 'Requests of operators over HTTPS failed.',
      // The function answers its own failures, with 500: Lambda counts them as answers.
      metric: httpApi.metric('Url5xxCount', { ...MINUTE, statistic: Stats.SUM }),
      threshold: 0,
      periods: 2,
    },
    {
      id: 'ApiRequestsRefused',
      section: 'OperatorRequestsRefused',
      description: 'Many requests to the API of operators were refused.',
      // Refusals at the URL: answers from 400 to 499, and signatures that Lambda itself refuses.
      metric: httpApi.metric('Url4xxCount', { ...MINUTE, statistic: Stats.SUM }),
      threshold: API_REQUESTS_REFUSED_PER_MINUTE,
      periods: 3,
    },
  ];
}

/** Alarms for bridges from Kafka: they do not advance, or skip records. */
export function kafkaAlarms({ kafka, metrics }: Watched): readonly AlarmDefinition[] {
  if (kafka.length === 0) return [];
  return [
    ...kafka.map((lambda) => ({
      id: `${lambda.node.id}Errors`,
      section: 'KafkaErrors',
      description: 'Records of Kafka could not be published.',
      metric: lambda.metricErrors(MINUTE),
      threshold: 0,
      periods: 5,
    })),
    {
      id: 'KafkaRecordsSkipped',
      description: 'Records of Kafka could be no message, and were left out.',
      metric: metrics.kafkaRecordsSkipped(),
      threshold: 0,
      periods: 1,
    },
  ];
}

/** Alarm for a missing export of a day's usage. */
export function usageExportAlarms({ usageExport }: Watched): readonly AlarmDefinition[] {
  if (usageExport === undefined) return [];
  return [
    {
      id: 'UsageExportErrors',
      description: 'The usage of a day could not be exported.',
      metric: usageExport.metricErrors({ period: Duration.hours(1) }),
      threshold: 0,
      periods: 1,
    },
  ];
}

/** Alarms for messages of AWS IoT Core that wait, were given up, or are skipped. */
export function iotCoreAlarms({ iotCore, metrics }: Watched): readonly AlarmDefinition[] {
  if (iotCore === undefined) return [];
  const { lambda, queues } = iotCore;
  const { queue, deadLetters } = queues;
  return [
    {
      id: 'IotCoreErrors',
      description: 'Messages of AWS IoT Core could not be published.',
      metric: lambda.metricErrors(MINUTE),
      threshold: 0,
      periods: 5,
    },
    {
      id: 'IotCoreDelay',
      description: 'Messages of AWS IoT Core wait.',
      // SQS leaves messages out of it that were received three times: `IotCoreErrors` reports those.
      metric: queue.metricApproximateAgeOfOldestMessage(MINUTE),
      threshold: RULE_DELAY_SECONDS,
      periods: 2,
    },
    {
      id: 'IotCoreDeadLetters',
      description: 'A message of AWS IoT Core was given up.',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible(MINUTE),
      threshold: 0,
      periods: 1,
    },
    {
      id: 'IotCoreMessagesSkipped',
      description: 'Messages of AWS IoT Core could be none here, and were left out.',
      metric: metrics.iotCoreMessagesSkipped(),
      threshold: 0,
      periods: 1,
    },
  ];
}

/** Alarms for rules that cannot send, and for messages that they have given up. */
export function ruleAlarms({ rules, rulesFunction }: Watched): readonly AlarmDefinition[] {
  if (rules === undefined || rulesFunction === undefined) return [];
  return [
    {
      id: 'RuleErrors',
      description: 'The function of rules failed.',
      metric: rulesFunction.metricErrors(MINUTE),
      threshold: 0,
      periods: 5,
    },
    {
      id: 'RuleDeadLetters',
      description: 'A message for the target of a rule was given up.',
      metric: rules.deadLetters.metricApproximateNumberOfMessagesVisible(MINUTE),
      threshold: 0,
      periods: 1,
    },
    {
      id: 'RuleDelay',
      description: 'Messages for the targets of rules wait.',
      metric: rules.queue.metricApproximateAgeOfOldestMessage(MINUTE),
      threshold: RULE_DELAY_SECONDS,
      periods: 2,
    },
  ];
}

/** Trips the breaker. */
export function runaway(metrics: BrokerMetrics, messagesPerMinuteMax: number): AlarmDefinition {
  return {
    id: 'Runaway',
    description: 'More messages in a minute than allowed: the breaker trips.',
    metric: metrics.gatewayMessages(),
    threshold: messagesPerMinuteMax,
    periods: 1,
  };
}

/** Alarm for a breaker that fails: nothing would stop a runaway. */
export function breakerFailed(breaker: IFunction): AlarmDefinition {
  return {
    id: 'BreakerFailed',
    description: 'The breaker could not stop a runaway.',
    metric: breaker.metricErrors(MINUTE),
    threshold: 0,
    periods: 1,
  };
}
