import {
  BRIDGE_METRICS,
  METRICS,
  METRICS_SERVICE,
  OPTIONAL_METRICS,
  TENANT_DIMENSION,
  type TENANT_METRICS,
} from '@apus/aws/lambda';
import { type IMetric, MathExpression, Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { GatewayApi } from './api.ts';
import { STAGE_NAME } from './defaults.ts';

const MINUTE: MetricOptions = { period: Duration.minutes(1) };

/** Metrics of one broker: those that its functions write, and those of its stage. */
export class BrokerMetrics {
  readonly #namespace: string;
  readonly #api: GatewayApi;

  constructor(namespace: string, api: GatewayApi) {
    this.#namespace = namespace;
    this.#api = api;
  }

  /** Open connections, counted by each sweep: every ten minutes. */
  connections(options?: MetricOptions): Metric {
    return this.#own(METRICS.connections, Stats.AVERAGE, { period: Duration.minutes(10), ...options });
  }

  /** One of the metrics of the largest tenants, with a line for each tenant. */
  tenants(name: (typeof TENANT_METRICS)[keyof typeof TENANT_METRICS]): IMetric {
    const schema = `"${this.#namespace}",service,${TENANT_DIMENSION}`;
    return new MathExpression({
      expression: `SEARCH('{${schema}} MetricName="${name}"', 'Sum', 60)`,
      label: '',
      usingMetrics: {},
      ...MINUTE,
    });
  }

  messagesIn(options?: MetricOptions): Metric {
    return this.#own(METRICS.messagesIn, Stats.SUM, options);
  }

  messagesOut(options?: MetricOptions): Metric {
    return this.#own(METRICS.messagesOut, Stats.SUM, options);
  }

  /** Milliseconds, for messages that workers deliver. */
  fanOutLatency(options?: MetricOptions): Metric {
    return this.#own(METRICS.fanOutLatency, Stats.percentile(99), options);
  }

  postsGone(options?: MetricOptions): Metric {
    return this.#own(METRICS.postsGone, Stats.SUM, options);
  }

  postsThrottled(options?: MetricOptions): Metric {
    return this.#own(METRICS.postsThrottled, Stats.SUM, options);
  }

  /** Calls about connections that failed, and posts that were given up for their rate. */
  postsFailed(options?: MetricOptions): Metric {
    return this.#own(METRICS.postsFailed, Stats.SUM, options);
  }

  /** Jobs of wide filters that a worker could not serve, as its code failed. */
  fanOutJobsFailed(options?: MetricOptions): Metric {
    return this.#own(OPTIONAL_METRICS.fanOutJobsFailed, Stats.SUM, options);
  }

  timersFailed(options?: MetricOptions): Metric {
    return this.#own(OPTIONAL_METRICS.timersFailed, Stats.SUM, options);
  }

  messagesDropped(options?: MetricOptions): Metric {
    return this.#own(METRICS.messagesDropped, Stats.SUM, options);
  }

  tokensRefused(options?: MetricOptions): Metric {
    return this.#own(METRICS.tokensRefused, Stats.SUM, options);
  }

  /** Requests of backends that were refused for their key or their rate. */
  publishesRefused(options?: MetricOptions): Metric {
    return this.#own(METRICS.publishesRefused, Stats.SUM, options);
  }

  connectTimeouts(options?: MetricOptions): Metric {
    return this.#own(METRICS.connectTimeouts, Stats.SUM, options);
  }

  /** Packets and frames that were refused because the table, a queue or a hook did not answer. */
  unavailable(options?: MetricOptions): Metric {
    return this.#own(METRICS.unavailable, Stats.SUM, options);
  }

  identitiesLimited(options?: MetricOptions): Metric {
    return this.#own(METRICS.identitiesLimited, Stats.SUM, options);
  }

  /** Records of Kafka that cannot become messages, or that the broker refuses for good. */
  kafkaRecordsSkipped(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.kafkaRecordsSkipped, Stats.SUM, options);
  }

  /** Messages of AWS IoT Core that are invalid here, or that the broker refuses for good. */
  iotCoreMessagesSkipped(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.iotCoreMessagesSkipped, Stats.SUM, options);
  }

  ruleMessagesSent(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.ruleMessagesSent, Stats.SUM, options);
  }

  /** Failed calls to targets of rules. */
  ruleAttemptsFailed(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.ruleAttemptsFailed, Stats.SUM, options);
  }

  ruleMessagesDead(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.ruleMessagesDead, Stats.SUM, options);
  }

  ruleConditionsFailed(options?: MetricOptions): Metric {
    return this.#own(BRIDGE_METRICS.ruleConditionsFailed, Stats.SUM, options);
  }

  /** The messages that API Gateway bills, without those above 32 KB: frames, replies and posts. */
  gatewayMessages(options?: MetricOptions): Metric {
    return this.#ofStage('MessageCount', Stats.SUM, options);
  }

  /** Handshakes. */
  connects(options?: MetricOptions): Metric {
    return this.#ofStage('ConnectCount', Stats.SUM, options);
  }

  /** Frames and handshakes that a function failed to answer. */
  integrationErrors(options?: MetricOptions): Metric {
    return this.#ofStage('IntegrationError', Stats.SUM, options);
  }

  /** Handshakes refused by the gateway itself or by `$connect`. */
  clientErrors(options?: MetricOptions): Metric {
    return this.#ofStage('ClientError', Stats.SUM, options);
  }

  #own(metricName: string, statistic: string, options?: MetricOptions): Metric {
    const dimensionsMap = { service: METRICS_SERVICE };
    return new Metric({
      namespace: this.#namespace,
      metricName,
      dimensionsMap,
      statistic,
      ...MINUTE,
      ...options,
    });
  }

  #ofStage(metricName: string, statistic: string, options?: MetricOptions): Metric {
    return new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiId: this.#api.api.apiId, Stage: STAGE_NAME },
      statistic,
      ...MINUTE,
      ...options,
    });
  }
}

/**
 * Failures of a function behind a queue: as a whole, which Lambda counts, and of single messages, which it does not,
 * since the function answers them.
 */
export function failuresOf(lambda: IFunction, ofMessages: Metric): MathExpression {
  return new MathExpression({
    expression: 'FILL(whole, 0) + FILL(single, 0)',
    usingMetrics: { whole: lambda.metricErrors(MINUTE), single: ofMessages },
    ...MINUTE,
  });
}

/**
 * The metrics' namespace is unique for each broker of an account and Region: `Apus/apus/Broker` for the broker of the
 * stack `apus`.
 */
export function namespaceOf(broker: Construct): string {
  const stack = Stack.of(broker);
  return `Apus/${stack.stackName}/${broker.node.path.slice(stack.node.path.length + 1)}`;
}
