/**
 * Names of the metrics that the functions write and that the construct's dashboard and alarms read, each in the
 * namespace of its deployment, and with the one dimension that Powertools always writes: every value of a dimension is
 * a metric more to pay for.
 */
export const METRICS = {
  /** Connections that are open, counted by each sweep. A gauge: average it. */
  connections: 'Connections',
  /** PUBLISH packets taken from clients and backends. */
  messagesIn: 'MessagesIn',
  /** PUBLISH packets handed to the gateway for clients. */
  messagesOut: 'MessagesOut',
  /** Milliseconds from the publish to the last post, of the oldest job in each batch of a worker. */
  fanOutLatency: 'FanOutLatency',
  /** Posts to connections that were gone (410). */
  postsGone: 'PostsGone',
  /** Posts that were refused for their rate (429). */
  postsThrottled: 'PostsThrottled',
  /**
   * Calls about connections (posts, closes, looks) that the gateway answered with another error or not at all, and posts
   * that were given up for their rate.
   */
  postsFailed: 'PostsFailed',
  /** Messages that did not reach a session that they were for (docs/observability.md). */
  messagesDropped: 'MessagesDropped',
  /** Handshakes refused for their token. */
  tokensRefused: 'TokensRefused',
  /** Requests of backends refused for their key (401), or since too many came (429). */
  publishesRefused: 'PublishesRefused',
  /** Connections cut because they never sent CONNECT. */
  connectTimeouts: 'ConnectTimeouts',
  /**
   * Packets and frames refused since a store or a queue did not answer (most often it was throttled), and requests that
   * a hook did not answer.
   */
  unavailable: 'Unavailable',
  /** Messages without a delivery, since their publisher had used up its quota of deliveries. */
  identitiesLimited: 'IdentitiesLimited',
} as const;

/** Metrics that exist only where an owner has asked for the feature that they count, or where code is defect. */
export const OPTIONAL_METRICS = {
  /** Payloads that the schema of their topic does not allow. */
  payloadsRefused: 'PayloadsRefused',
  /** Attempts to serve jobs of wide filters that ended in an error of the code; and to fire timers. */
  fanOutJobsFailed: 'FanOutJobsFailed',
  timersFailed: 'TimersFailed',
} as const;

/** Metrics of the functions of bridges and rules, where a deployment has some. */
export const BRIDGE_METRICS = {
  kafkaRecordsSkipped: 'KafkaRecordsSkipped',
  /** Messages of AWS IoT Core that can be none here, or that the broker refuses for good. */
  iotCoreMessagesSkipped: 'IotCoreMessagesSkipped',
  /** Messages that the targets of rules have taken. */
  ruleMessagesSent: 'RuleMessagesSent',
  /** Calls on targets that failed: another follows, or a dead letter. */
  ruleAttemptsFailed: 'RuleAttemptsFailed',
  /** Messages that rules have given up. */
  ruleMessagesDead: 'RuleMessagesDead',
  /** Messages for which the condition of a rule is neither true nor false. */
  ruleConditionsFailed: 'RuleConditionsFailed',
} as const;

export type MetricName =
  | (typeof METRICS)[keyof typeof METRICS]
  | (typeof OPTIONAL_METRICS)[keyof typeof OPTIONAL_METRICS]
  | (typeof BRIDGE_METRICS)[keyof typeof BRIDGE_METRICS];

/** Messages of the largest tenants, with `tenant` as a second dimension, where an owner asks for them. */
export const TENANT_METRICS = {
  messagesIn: 'TenantMessagesIn',
  messagesOut: 'TenantMessagesOut',
} as const;

export const TENANT_DIMENSION = 'tenant';

/** Tenants that may be asked for: two metrics each. */
export const METERED_TENANTS_MAX = 50;

/** The dimension of all of them: `service`. */
export const METRICS_SERVICE = 'apus';
