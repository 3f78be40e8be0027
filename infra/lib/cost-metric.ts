import { type PriceName, priceOf } from '@apus/cost';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { Watched } from './broker-alarms.ts';
import type { BrokerFunction } from './broker-function.ts';
import type { BrokerTable } from './table.ts';

const PERIOD = Duration.minutes(5);
const PERIODS_PER_HOUR = 60 / PERIOD.toMinutes();
const MINUTES_PER_HOUR = 60;
const MEGABYTES_PER_GIGABYTE = 1_024;
const MS_PER_SECOND = 1_000;
/** A job is sent, received and deleted. */
const REQUESTS_PER_JOB = 3;

/** Metrics by their names in the expression, and the expression. */
interface Term {
  readonly metrics: Readonly<Record<string, IMetric>>;
  readonly expression: string;
}

/**
 * The present cost of the broker, in dollars an hour, by the list prices of extensions/cost: messages, connections,
 * functions, the table and jobs. Not included: logs, data transfer, messages above 32 KB, and monthly charges.
 */
export function dollarsPerHour(watched: Watched): MathExpression {
  const { metrics, functions, publish, state, fanOut } = watched;
  const terms = [
    counted('messages', metrics.gatewayMessages({ period: PERIOD }), 'gatewayMessage'),
    open(metrics.connections({ period: PERIOD })),
    ...[functions.gateway, functions.disconnect, functions.fanOut].flatMap(ofFunction),
    ...(publish === undefined ? [] : ofFunction(publish)),
    ...ofTable('messages', state.table),
    ...ofTable('sessions', state.sessionsTable),
    ...(state.streamsTable === undefined ? [] : ofTable('streams', state.streamsTable)),
    counted(
      'jobs',
      fanOut.queue.metricNumberOfMessagesSent({ period: PERIOD }),
      'sqsFifoRequest',
      REQUESTS_PER_JOB,
    ),
  ];
  return new MathExpression({
    label: 'dollars an hour',
    period: PERIOD,
    usingMetrics: Object.assign({}, ...terms.map(({ metrics: each }) => each)),
    expression: terms.map(({ expression }) => expression).join(' + '),
  });
}

/** The count of a period, scaled to an hour. */
function counted(name: string, metric: IMetric, price: PriceName, times = 1): Term {
  return {
    metrics: { [name]: metric },
    expression: `FILL(${name}, 0) * ${times * PERIODS_PER_HOUR} * ${unitPrice(price)}`,
  };
}

function ofTable(name: string, table: BrokerTable): readonly Term[] {
  return [
    counted(`${name}Reads`, table.metricConsumedReadCapacityUnits({ period: PERIOD }), 'dynamodbReadUnit'),
    counted(`${name}Writes`, table.metricConsumedWriteCapacityUnits({ period: PERIOD }), 'dynamodbWriteUnit'),
  ];
}

/** Connections are counted every ten minutes, and bill by the minute. */
function open(connections: IMetric): Term {
  return {
    metrics: { connections },
    expression: `FILL(connections, REPEAT) * ${MINUTES_PER_HOUR} * ${unitPrice('gatewayConnectionMinute')}`,
  };
}

function ofFunction(lambda: BrokerFunction): readonly Term[] {
  const name = lambda.node.id.toLowerCase();
  const duration = `${name}Ms`;
  const gigabytes = lambda.memorySizeMegabytes / MEGABYTES_PER_GIGABYTE;
  const perMs = `${gigabytes} / ${MS_PER_SECOND} * ${unitPrice('lambdaGigabyteSecond')}`;
  return [
    counted(`${name}Requests`, lambda.metricInvocations({ period: PERIOD }), 'lambdaRequest'),
    {
      metrics: { [duration]: lambda.metricDuration({ period: PERIOD, statistic: 'Sum' }) },
      expression: `FILL(${duration}, 0) * ${PERIODS_PER_HOUR} * ${perMs}`,
    },
  ];
}

/** Written as a fraction: CloudWatch's expressions have no exponents. */
function unitPrice(name: PriceName): string {
  const { usd, per } = priceOf(name);
  return `${usd} / ${per}`;
}
