import { TENANT_METRICS } from '@apus/aws/lambda';
import { Dashboard, GraphWidget, type IMetric, type IWidget, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Watched } from './broker-alarms.ts';
import { dollarsPerHour } from './cost-metric.ts';
import type { BrokerTable, StateTables } from './table.ts';

const WIDTH = 8;
const HEIGHT = 6;
const MINUTE = { period: Duration.minutes(1) };

/** Traffic, errors and cost: fewer than the fifty metrics that a free dashboard may show. */
export function createDashboard(scope: Construct, watched: Watched): Dashboard {
  return new Dashboard(scope, 'Dashboard', {
    defaultInterval: Duration.hours(3),
    widgets: [
      traffic(watched),
      tenants(watched),
      fanOut(watched),
      trouble(watched),
      bridges(watched),
      cost(watched),
    ],
  });
}

function traffic({ metrics }: Watched): IWidget[] {
  return [
    graph('Connections', [metrics.connections()]),
    graph('MQTT messages a minute', [
      metrics.messagesIn({ label: 'in' }),
      metrics.messagesOut({ label: 'out' }),
    ]),
    graph('Gateway messages a minute', [metrics.gatewayMessages()]),
  ];
}

/** The tenants are not known in advance: CloudWatch searches for them. */
function tenants({ metrics, hasTenantMetrics }: Watched): IWidget[] {
  if (!hasTenantMetrics) return [];
  return [
    graph('Messages of the largest tenants a minute, in', [metrics.tenants(TENANT_METRICS.messagesIn)]),
    graph('Messages of the largest tenants a minute, out', [metrics.tenants(TENANT_METRICS.messagesOut)]),
  ];
}

function fanOut({ metrics, fanOut: queue, timers, functions }: Watched): IWidget[] {
  return [
    graph('Fan-out, ms', [metrics.fanOutLatency({ label: 'p99' })]),
    graph('A frame, ms', [
      functions.gateway.metricDuration({ ...MINUTE, statistic: Stats.percentile(99), label: 'p99' }),
    ]),
    graph('Waiting', [
      queue.queue.metricApproximateNumberOfMessagesVisible({ ...MINUTE, label: 'fan-out jobs' }),
      timers.queue.metricApproximateNumberOfMessagesVisible({ ...MINUTE, label: 'timers' }),
    ]),
  ];
}

function trouble({ metrics, functions, publish, state }: Watched): IWidget[] {
  const { gateway, disconnect, fanOut: worker, timers } = functions;
  const ofBackends = publish === undefined ? [] : [publish];
  // The sweep and dead letters have alarms; a free dashboard has no room for them.
  const each = [gateway, disconnect, worker, timers, ...ofBackends];
  // The functions for which a client or backend waits. A free dashboard has no room for more.
  const hurried = [gateway, worker, ...ofBackends];
  return [
    graph('Posts that did not arrive', [
      metrics.postsGone({ label: '410 gone' }),
      metrics.postsThrottled({ label: '429 throttled' }),
      metrics.postsFailed({ label: 'other calls that failed' }),
      metrics.messagesDropped({ label: 'messages dropped' }),
    ]),
    graph('Refused', [
      metrics.tokensRefused({ label: 'tokens' }),
      metrics.connectTimeouts({ label: 'never sent CONNECT' }),
      metrics.publishesRefused({ label: 'requests of backends' }),
      metrics.identitiesLimited({ label: 'over their deliveries' }),
      metrics.unavailable({ label: 'table, queue or hook unavailable' }),
      metrics.clientErrors({ label: 'by the gateway' }),
    ]),
    graph(
      'Errors of functions',
      each.map((lambda) => lambda.metricErrors({ ...MINUTE, label: lambda.node.id })),
    ),
    graph('Throttles', [
      ...hurried.map((lambda) => lambda.metricThrottles({ ...MINUTE, label: lambda.node.id })),
      ...ofTables(state, (table, name) => [
        table.metric('WriteThrottleEvents', { ...MINUTE, statistic: 'Sum', label: `${name}: writes` }),
        table.metric('ReadThrottleEvents', { ...MINUTE, statistic: 'Sum', label: `${name}: reads` }),
      ]),
    ]),
  ];
}

function bridges({ metrics, kafka, iotCore, rulesFunction }: Watched): IWidget[] {
  return [
    ...(kafka.length === 0
      ? []
      : [graph('Kafka', [metrics.kafkaRecordsSkipped({ label: 'records left out' })])]),
    ...(iotCore === undefined
      ? []
      : [
          graph('AWS IoT Core', [
            iotCore.queues.queue.metricNumberOfMessagesDeleted({ ...MINUTE, label: 'messages done with' }),
            metrics.iotCoreMessagesSkipped({ label: 'left out' }),
          ]),
        ]),
    ...(rulesFunction === undefined
      ? []
      : [
          graph('Rules', [
            metrics.ruleMessagesSent({ label: 'messages sent' }),
            metrics.ruleAttemptsFailed({ label: 'attempts that failed' }),
            metrics.ruleMessagesDead({ label: 'dead letters' }),
            metrics.ruleConditionsFailed({ label: 'conditions neither true nor false' }),
          ]),
        ]),
  ];
}

function cost(watched: Watched): IWidget[] {
  const { state } = watched;
  return [
    graph('Dollars an hour', [dollarsPerHour(watched)]),
    graph('DynamoDB units a minute', [
      ...ofTables(state, (table, name) => [
        table.metricConsumedReadCapacityUnits({ ...MINUTE, label: `${name}: read` }),
        table.metricConsumedWriteCapacityUnits({ ...MINUTE, label: `${name}: written` }),
      ]),
    ]),
  ];
}

function ofTables(
  { table, sessionsTable, streamsTable }: StateTables,
  metricsOf: (table: BrokerTable, name: string) => IMetric[],
): IMetric[] {
  return [
    ...metricsOf(table, 'messages'),
    ...metricsOf(sessionsTable, 'sessions'),
    ...(streamsTable === undefined ? [] : metricsOf(streamsTable, 'streams')),
  ];
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: WIDTH, height: HEIGHT, leftYAxis: { min: 0 } });
}
