/** Names of the environment variables that the functions read and the CDK construct sets. */
export const VARIABLES = {
  tableName: 'APUS_TABLE_NAME',
  fanOutQueueUrl: 'APUS_FAN_OUT_QUEUE_URL',
  timerQueueUrl: 'APUS_TIMER_QUEUE_URL',
  deadLetterQueueUrl: 'APUS_DEAD_LETTER_QUEUE_URL',
  /** `https://{api}.execute-api.{region}.amazonaws.com/{stage}`; never the custom domain. */
  managementEndpoint: 'APUS_MANAGEMENT_ENDPOINT',
  /** Secret that signs tokens: its ARN in Secrets Manager. */
  tokenSecretArn: 'APUS_TOKEN_SECRET_ARN',
  /** Key set of an identity provider, as a URL; with the issuer and the audience that its tokens must name. */
  tokenJwksUrl: 'APUS_TOKEN_JWKS_URL',
  tokenIssuer: 'APUS_TOKEN_ISSUER',
  tokenAudience: 'APUS_TOKEN_AUDIENCE',
  /** JSON of the filters that a token without any allows: `{"publish": [], "subscribe": []}`. */
  tokenDefaultRules: 'APUS_TOKEN_DEFAULT_RULES',
  /** `anonymous`: no token is asked for. Only ever set by the owner's explicit choice. */
  authentication: 'APUS_AUTHENTICATION',
  /** JSON of the broker limits that differ from the defaults. */
  limits: 'APUS_LIMITS',
  /** Seconds from the handshake to CONNECT; then the connection is cut. */
  connectTimeoutSeconds: 'APUS_CONNECT_TIMEOUT_SECONDS',
  /** Deliveries a minute that the publishes of one identity may cause. `0`, or not set: any number. */
  deliveriesPerMinuteMax: 'APUS_DELIVERIES_PER_MINUTE_MAX',
  /** Posts a second that one worker may make. */
  postsPerSecond: 'APUS_POSTS_PER_SECOND',
  /** Secret that holds the keys of backends that publish over HTTP: its ARN. Not set: requests are signed. */
  publishKeysSecretArn: 'APUS_PUBLISH_KEYS_SECRET_ARN',
  /** The least that is logged: `debug`, `info`, `warn` or `error`. */
  logLevel: 'APUS_LOG_LEVEL',
  metricsNamespace: 'APUS_METRICS_NAMESPACE',
} as const;
