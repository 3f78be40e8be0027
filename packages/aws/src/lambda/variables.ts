/**
 * Names of the environment variables of what a deployment has, which the CDK construct sets. Those of the owner's options
 * follow from the names of the options (`FUNCTION_OPTIONS`).
 */
export const VARIABLES = {
  /** Messages, subscriptions, and all that the sweep reads once a day. */
  tableName: 'APUS_TABLE_NAME',
  /** Connections, sessions and their records: the sweep goes over them every ten minutes. */
  sessionsTableName: 'APUS_SESSIONS_TABLE_NAME',
  /** The history of streams, and members of rooms: the sweep does not read this table. Not set: there are none. */
  streamsTableName: 'APUS_STREAMS_TABLE_NAME',
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
  /** The bucket of the usage of each day, and the format of its files. */
  usageBucket: 'APUS_USAGE_BUCKET',
  usageExport: 'APUS_USAGE_EXPORT',
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
} as const;
