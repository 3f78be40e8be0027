/** Names of the environment variables that the functions read and the CDK construct sets. */
export const VARIABLES = {
  /** Messages, subscriptions, and all that the sweep reads once a day. */
  tableName: 'APUS_TABLE_NAME',
  /** Connections, sessions and their records: the sweep goes over them every ten minutes. */
  sessionsTableName: 'APUS_SESSIONS_TABLE_NAME',
  /** The history of streams, and members of rooms: the sweep does not read this table. Not set: there are none. */
  streamsTableName: 'APUS_STREAMS_TABLE_NAME',
  /** The streams: JSON, as the list in the file of `apus serve --streams`. Not set: there are none. */
  streams: 'APUS_STREAMS',
  /** `on`: members of rooms are kept, and backends are told of clients that come and go. Not set: off. */
  presence: 'APUS_PRESENCE',
  /** The module of the compiled schemas of payloads, in a layer. Not set: payloads are not checked. */
  payloadChecks: 'APUS_PAYLOAD_CHECKS',
  /** The rules: JSON, a list of `[tenant, name, filter]`. Not set: there are none. */
  ruleFilters: 'APUS_RULE_FILTERS',
  /** Where messages for rules wait. */
  ruleQueueUrl: 'APUS_RULE_QUEUE_URL',
  /** The function of the rules, for that of operators: its ARN. */
  rulesFunctionArn: 'APUS_RULES_FUNCTION_ARN',
  /** The module of the described topics, in a layer, for the function of operators. Not set: none are described. */
  describedTopics: 'APUS_DESCRIBED_TOPICS',
  /** The address at which clients connect, where it is not that of the API: `wss://…`. */
  clientUrl: 'APUS_CLIENT_URL',
  /** `on`: what each tenant uses is counted. Not set: off. */
  usage: 'APUS_USAGE',
  /** The bucket of the usage of each day, and the format of its files. */
  usageBucket: 'APUS_USAGE_BUCKET',
  usageExport: 'APUS_USAGE_EXPORT',
  /** A collector of traces that takes OTLP over HTTP: its URL. Not set: no traces. */
  otlpUrl: 'APUS_OTLP_URL',
  /** The number of tenants, the largest of each minute, that have metrics of their own. Not set: none. */
  tenantMetrics: 'APUS_TENANT_METRICS',
  fanOutQueueUrl: 'APUS_FAN_OUT_QUEUE_URL',
  timerQueueUrl: 'APUS_TIMER_QUEUE_URL',
  deadLetterQueueUrl: 'APUS_DEAD_LETTER_QUEUE_URL',
  /** `https://{api}.execute-api.{region}.amazonaws.com/{stage}`; never the custom domain. */
  managementEndpoint: 'APUS_MANAGEMENT_ENDPOINT',
  /** Authentication: JSON, as the file of `apus serve --identity`. */
  identity: 'APUS_IDENTITY',
  /**
   * The hook that decides where an identity's own rules do not: JSON, as `authorization` in that file. Not set: no
   * hook.
   */
  authorization: 'APUS_AUTHORIZATION',
  /** `anonymous`: no token is asked for. Only ever set by the owner's explicit choice. */
  authentication: 'APUS_AUTHENTICATION',
  /** Origins of the web pages that may connect, with commas between. Not set: any. */
  allowedOrigins: 'APUS_ALLOWED_ORIGINS',
  /** JSON of the broker limits that differ from the defaults. */
  limits: 'APUS_LIMITS',
  /** Seconds from the handshake to CONNECT; then the connection is cut. */
  connectTimeoutSeconds: 'APUS_CONNECT_TIMEOUT_SECONDS',
  /** Seconds that a client which has lost its connection may take to go on with its session. 0: it may not. */
  resumeSeconds: 'APUS_RESUME_SECONDS',
  /** Milliseconds from the move of a session to the cut of its first connection. 0 or not set: that is cut first. */
  cutAfterMs: 'APUS_CUT_AFTER_MS',
  /** Extensions of the wire that are not taken, with commas between. Not set: all are. */
  withoutExtensions: 'APUS_WITHOUT_EXTENSIONS',
  /** JSON of the quotas that differ from the defaults, by scope: `{"identity": {"framesPerSecondMax": 50}}`. */
  quotas: 'APUS_QUOTAS',
  /** Posts a second that one worker may make. */
  postsPerSecond: 'APUS_POSTS_PER_SECOND',
  /** Secret that holds the keys of backends that publish over HTTP: its ARN. Not set: requests are signed. */
  publishKeysSecretArn: 'APUS_PUBLISH_KEYS_SECRET_ARN',
  /** Tenants that backends may speak for that sign their requests, with commas between. Not set: the default one. */
  publishTenants: 'APUS_PUBLISH_TENANTS',
  /** SHA-256 of each key of operators who call the API over HTTPS, with commas between. Not set: requests are signed. */
  apiKeysSha256: 'APUS_API_KEYS_SHA256',
  /** The bridges, for the function of operators: JSON, a list of `DeployedBridge`. Not set: there are none. */
  bridges: 'APUS_BRIDGES',
  /** The breaker, for the function of operators: JSON of `BreakerSettings`. Not set: there is none. */
  breaker: 'APUS_BREAKER',
  /** The least that is logged: `debug`, `info`, `warn` or `error`. */
  logLevel: 'APUS_LOG_LEVEL',
  metricsNamespace: 'APUS_METRICS_NAMESPACE',
} as const;
