import { FUNCTION_OPTIONS } from '@apus/aws/function-options';
import { CONNECT_IN_HANDSHAKE, EXPORT_FORMATS, EXTENSIONS } from '@apus/aws/lambda';
import type { GivenRule } from '@apus/bridges/lambda';
import type { GivenTopics } from '@apus/topics';
import type { IdentityProps } from './authentication-props.ts';
import type { AccessLogProps } from './operation-props.ts';
import type { Row, Rows } from './option-groups.ts';
import { ROTATION_DAYS_MAX } from './rotation.ts';

const ENVIRONMENTS = {
  kind: 'count',
  range: [1, 100_000],
  preset: "none; an account's ten allow none",
} as const;

/** The options of a broker. A function reads those of `FUNCTION_OPTIONS`. */
export const BROKER = {
  /**
   * The clients that may connect, in full: the JSON that `apus serve --identity FILE` reads (docs/identity.md). Secrets
   * are named by their ARN; `"generated"` names a secret that the stack creates.
   * @default what `authentication` says
   * @example
   * { authenticators: [
   *   { jwt: { secretArn: 'generated' } },
   *   { cognito: { region: 'eu-west-1', userPoolId: pool.userPoolId, clientIds: [app.userPoolClientId] } },
   * ] }
   */
  identity: {
    ...{ kind: 'json', type: {} as IdentityProps },
    help: 'The full configuration of authentication: JSON, as apus serve --identity takes it.',
  },
  /**
   * Web pages that may connect, by origin: `https://app.example.com`. A handshake from a page of another origin is
   * refused in `$connect` (403). Programs other than browsers send no origin, and may connect.
   * @default pages of every site may connect, if they show a token
   */
  allowedOrigins: {
    ...{ ...FUNCTION_OPTIONS.allowedOrigins, value: 'ORIGINS', preset: 'any' },
    help: 'Origins of web pages that may connect, as https://app.example.com, separated by commas.',
  },
  /**
   * Days between two rotations of the secret that the stack generates, from 1 to 1,000. A rotation adds a new key,
   * which signs; the broker accepts the former key until the next rotation, so tokens have to expire before that. The
   * program that makes tokens has to read the secret again, as `apus token` does: the first key of its list signs.
   * @default the owner rotates the secret by hand (`apus token rotate`)
   */
  rotateTokenSecretDays: {
    ...{ kind: 'count', value: 'DAYS', range: [1, ROTATION_DAYS_MAX], preset: 'by hand: apus token rotate' },
    help: 'Rotates the generated secret by itself after so many days; the former key is known until the next rotation. Tokens have to end before that.',
  },
  /**
   * How backends publish over HTTPS (`POST /api/v5/publish`).
   *
   * - `'iam'`: requests are signed with credentials of AWS; `grantPublish` allows a grantee.
   * - `'keys'`: requests carry an API key. The URL is public, and each refused request is billed as a Lambda request
   *   too.
   * - `false`: there is no such URL.
   * @default false
   */
  httpPublish: {
    ...{ kind: 'choice', choices: ['iam', 'keys'], none: true, type: false as 'iam' | 'keys' | false },
    ...{ help: 'How backends publish over HTTPS.', preset: 'none' },
  },
  /**
   * Tenants for which backends that sign their requests (`httpPublish: 'iam'`) may publish. A request that names no
   * tenant is for the first one. With `'keys'` each key has its tenant.
   * @default the default tenant alone
   */
  httpPublishTenants: { kind: 'list' },
  /**
   * Execution environments that are reserved for the function behind `httpPublish`, and the most that it gets. Lambda
   * answers 429 to further requests, and bills nothing for that: so this bounds the bill of a flood of requests to the
   * public URL. A new account has a concurrency of ten in all and can reserve none of it: there a deployment with this
   * prop fails.
   * @default none are reserved: the function gets what the account has left
   */
  publishReservedConcurrency: {
    ...ENVIRONMENTS,
    help: 'Reserved concurrency of the function: its environments are kept for it, and it never gets more.',
  },
  /**
   * Execution environments that are reserved for the function behind `httpApi`, and the most that it gets. This bounds
   * the bill of a flood of requests to the public URL. A new account can reserve none.
   * @default none are reserved: the function gets what the account has left
   */
  apiReservedConcurrency: {
    ...{ ...ENVIRONMENTS, range: [0, 100_000] },
    help: 'Reserved concurrency of the function of the HTTP API.',
  },
  /**
   * Execution environments that are reserved for the gateway's function, and the most that it gets. A new account has a
   * concurrency of ten in all and can reserve none of it: there a deployment with this prop fails.
   * @default none are reserved
   */
  reservedConcurrency: {
    ...ENVIRONMENTS,
    help: "Reserved concurrency of the gateway's function: its environments are kept for it, and it never gets more.",
  },
  /**
   * Seconds from the handshake to CONNECT, from 5 to 600; then the connection is closed. The sweep looks for such
   * connections every ten minutes, so a connection may stay open for ten minutes more. If tokens or passwords are
   * required, a connection whose handshake showed no token is closed after ten seconds.
   * @default 30
   */
  connectTimeoutSeconds: {
    ...{ ...FUNCTION_OPTIONS.connectTimeoutSeconds, value: 'SECONDS', preset: '30' },
    help: 'How long a client may take from the handshake to CONNECT.',
  },
  /**
   * Seconds, at most 240, within which a client that has lost its connection may resume its session without a CONNECT.
   * Until then a session that ends with its connection keeps up to 32 messages, or 8 KB, for the client. 0: the client
   * cannot resume.
   * @default 60
   */
  resumeSeconds: {
    ...{ ...FUNCTION_OPTIONS.resumeSeconds, value: 'SECONDS', preset: '60' },
    help: 'How long a client that has lost its connection may go on with its session. 0: not at all.',
  },
  /**
   * Milliseconds from the move of a session to a new connection until its old connection is cut, at most 1,000. With 0
   * the old connection is cut before its subscriptions carry the new one, which keeps the order of a publisher's
   * messages over all topics. Set it if `apus probe` reports that accepted posts do not arrive before a cut. The order
   * is then kept for each subscription, and a move takes that much longer.
   * @default 0
   */
  cutAfterMs: {
    ...{ ...FUNCTION_OPTIONS.cutAfterMs, value: 'MILLISECONDS', preset: '0: before its subscriptions move' },
    help: 'How long after a move the former connection of a session is cut. For an account where `apus probe` finds that a cut loses posts.',
  },
  /**
   * Extensions of the text frames (docs/text-frames.md, section 10) that the broker does not accept, although clients
   * offer them. Name an extension here if `apus probe` reports that your account does not behave as the extension
   * needs.
   * @default none
   */
  withoutExtensions: {
    ...{ ...FUNCTION_OPTIONS.withoutExtensions, value: 'NAMES', preset: 'all are taken' },
    choices: [...EXTENSIONS, CONNECT_IN_HANDSHAKE],
    help: 'Extensions of text-frames.md that are not taken from clients, with commas, where `probe` says that one does not work.',
  },
  /**
   * Quotas of one identity, of one tenant, and of all clients together, where they differ from the defaults
   * (`packages/broker/src/quotas.ts`; docs/fan-out.md, "What one identity may cause"). 0 lifts a quota.
   * @default for an identity 100 frames, 1,000 publishes and 256 KB a second, 3,000 writes and 30,000 deliveries a
   * minute, 10,000 connections and 50,000 sessions; for a tenant six tenths, and for all clients seven tenths, of the
   * messages a minute at which the breaker trips
   */
  quotas: FUNCTION_OPTIONS.quotas,
  /**
   * The broker's limits that differ from its defaults, each explained in `packages/broker/src/limits.ts`.
   * @default none
   */
  limits: FUNCTION_OPTIONS.limits,
  /**
   * Topics whose history is kept for readers (docs/streams.md), in a separate table: the list in the file of
   * `apus serve --streams`.
   * @default none, and no such table
   */
  streams: {
    ...{ ...FUNCTION_OPTIONS.streams, within: 'streams' },
    help: 'Topics whose history is kept: JSON, as apus serve --streams takes it (docs/streams.md).',
  },
  /**
   * Descriptions of topics (docs/portal.md): the content of the file of `apus serve --topics`. Payloads of topics with
   * `checkPayload` are compared with their schemas, which are compiled at synthesis into a layer of the functions.
   * @default no payload is checked, and there is no layer
   */
  topics: {
    ...{ kind: 'json', type: {} as GivenTopics },
    help: 'Payloads are checked against the schemas of their topics where the file says so: JSON, as apus serve --topics takes it (docs/portal.md).',
  },
  /**
   * Rules that send messages to webhooks, SQS, EventBridge, Lambda, IoT Core, Kafka, or another topic
   * (docs/bridges.md), as the list in the file of `apus serve --rules`. Secrets are `{ secretArn }`. All rules share a
   * queue, its dead-letter queue and a function.
   * @default none: nothing is created, and no message is compared with rules
   */
  rules: {
    ...{ kind: 'json', within: 'rules', type: [] as readonly GivenRule[] },
    help: 'Messages leave for webhooks, SQS, EventBridge, Lambda, IoT Core or another topic: JSON, as apus serve --rules takes it (docs/bridges.md).',
  },
  /**
   * Keeps members of rooms (docs/presence.md), in the table of streams, and tells backends of clients that come and go.
   * Each CONNECT and each end of a connection then looks for such backends.
   * @default false: `$presence/…` is refused
   */
  presence: {
    ...FUNCTION_OPTIONS.presence,
    help: 'Members of rooms are kept, and backends are told of clients that come and go (docs/presence.md).',
  },
  /**
   * Counts what each tenant uses (docs/usage.md): up to six writes a minute for each tenant and execution environment,
   * and one for each connection that ends.
   * @default false
   */
  usage: {
    ...FUNCTION_OPTIONS.usage,
    help: 'What each tenant uses is counted, at up to six writes a minute for each tenant and environment, and one for each connection that ends (docs/usage.md).',
  },
  /**
   * Writes the usage of each day into a bucket, as CSV or as JSON lines, a line for each tenant and hour
   * (docs/usage.md). Needs `usage`.
   * @default no export, and no bucket
   */
  usageExport: {
    ...{ kind: 'choice', choices: EXPORT_FORMATS, preset: 'no export' },
    help: 'The usage of each day is written into a bucket, a line for each tenant and hour. Needs --usage (docs/usage.md).',
  },
  /**
   * Metrics of the tenants with the most messages, with `tenant` as a dimension, and a graph of them. The number, from
   * 1 to 50, is that of the tenants in each minute and execution environment; all others share one metric. $0.60 a
   * month for each.
   * @default none: all metrics are of all tenants together
   */
  tenantMetrics: {
    ...{ ...FUNCTION_OPTIONS.tenantMetrics, preset: 'none' },
    help: 'Metrics and a graph of the largest tenants: so many of each minute. $0.60 a month for each.',
  },
  /**
   * Deploys new code gradually: CodeDeploy sends it a tenth of the frames, jobs and requests for ten minutes, and then
   * all. If an alarm on errors goes off within that time, the former code takes all of them again, and CloudFormation
   * rolls back the rest of the deployment. Needs `alarms`. $0.20 a month, for two alarms on workers.
   * @default false: the new code takes everything at once
   */
  rollbackOnAlarm: {
    ...{ kind: 'switch', preset: 'false' },
    help: 'A deployment of new code begins with a tenth of the traffic for ten minutes, and rolls back when an alarm on errors goes off. $0.40 a month.',
  },
  /** A dashboard. An account's first three are free, each further one is $3.00 a month. @default true */
  dashboard: {
    ...{ kind: 'switch', preset: 'true' },
    help: 'Creates a CloudWatch dashboard; the first three of an account are free.',
  },
  /**
   * With `true` the stack passes the packs NIST 800-53 R5, HIPAA Security and PCI DSS 3.2.1 of cdk-nag. The key of
   * `encryptionKey`, or a rotating key that the stack creates, encrypts the functions' logs and the topics as well; the
   * tables have point-in-time recovery and a daily backup of 35 days. Rules that a broker of this kind cannot follow
   * are acknowledged, each with its reason (docs/deploy-settings.md, "Compliance"). $1.00 a month for the key, $3.70 a GB for
   * the backups.
   * @default false
   */
  compliance: {
    ...{ kind: 'switch', preset: 'false' },
    help: 'Passes the rules of NIST 800-53 R5, HIPAA Security and PCI DSS 3.2.1 of cdk-nag: your key, or one that the stack makes, for logs and alarms too; backups of the tables. $1.00 a month, and $3.70 a GB.',
  },
  /**
   * Memory of the functions that handle frames and deliver messages, in MB, from 256 to 10,240. Lambda gives
   * processor time in proportion: 1,769 MB are one processor.
   * @default 512
   */
  memorySizeMegabytes: {
    ...{ kind: 'count', value: 'MB', range: [256, 10_240], preset: '512', help: 'Memory of the functions.' },
  },
  /** The lowest level that the functions log. A line for each frame would cost as much as the frame. @default 'warn' */
  logLevel: {
    ...{ ...FUNCTION_OPTIONS.logLevel, preset: 'warn', help: 'The lowest level that the functions log.' },
  },
  /** A line in API Gateway's access log for every frame: $0.25 to $0.50 a million. @default false */
  accessLogs: {
    ...{ kind: 'switch', type: false as AccessLogProps | boolean, preset: 'false' },
    help: 'Logs a line for each frame at the gateway.',
  },
  /**
   * Traces in X-Ray: one frame each second and every twentieth beyond, $5.00 for a million traces.
   * @default false
   */
  tracing: { kind: 'switch', preset: 'false', help: 'Sends sampled traces to X-Ray.' },
  /**
   * A collector of OpenTelemetry that takes OTLP over HTTP: `https://collector.example.com`. Functions send it the
   * traces of messages whose publishers ask for them (docs/observability.md), each at the end of its event.
   * @default no traces
   */
  otlpUrl: {
    ...{ ...FUNCTION_OPTIONS.otlpUrl, value: 'URL' },
    help: 'Sends traces of messages whose publishers ask for it to this OTLP collector (docs/observability.md).',
  },
  /**
   * Namespace of the metrics in CloudWatch; one for each broker.
   * @default `Apus/`, the stack's name and the construct's path in it
   */
  metricsNamespace: {
    ...FUNCTION_OPTIONS.metricsNamespace,
    rule: [
      /^(?!AWS\/)[\w.\-/#:]{1,255}$/,
      'has up to 255 letters, digits and . - _ / # :, and does not begin with AWS/; it is',
    ],
  },
} as const satisfies Rows & Readonly<Record<keyof typeof FUNCTION_OPTIONS, Row>>;
