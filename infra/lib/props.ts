import type { GivenIotCoreBridge, GivenKafkaBridge, GivenRule } from '@apus/bridges/lambda';
import type { BrokerLimits, GivenQuotaScopes, GivenStream } from '@apus/broker';
import type { GivenTopics } from '@apus/topics';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Authentication, IdentityProps, TokenRulesProps } from './authentication-props.ts';
import type {
  AccessLogProps,
  AlarmProps,
  BreakerProps,
  BudgetProps,
  DomainProps,
} from './operation-props.ts';
import type { TableProps } from './table-props.ts';

export type * from './operation-props.ts';

/** How operators authenticate: with a signature of AWS, or with a key whose SHA-256 in hex is listed here. */
export type HttpApiProps = 'iam' | { readonly keysSha256: readonly string[] } | false;

/** The props of an `ApusBroker`. Each has a default: `new ApusBroker(stack, 'Broker')` is a whole broker. */
export interface ApusBrokerProps {
  /**
   * Authentication in the most frequent cases. A token is checked in `$connect`, before a connection exists that could
   * cost money.
   *
   * @default 'generated-secret', or what `identity` says
   */
  readonly authentication?: Authentication;

  /**
   * The clients that may connect, in full: the JSON that `apus serve --identity FILE` reads (docs/identity.md). Secrets
   * are named by their ARN; `"generated"` names a secret that the stack creates.
   *
   * @default what `authentication` says
   * @example
   * { authenticators: [
   *   { jwt: { secretArn: 'generated' } },
   *   { cognito: { region: 'eu-west-1', userPoolId: pool.userPoolId, clientIds: [app.userPoolClientId] } },
   * ] }
   */
  readonly identity?: IdentityProps;

  /**
   * The rules of tokens that name no filters: many identity providers cannot add them. `%u` in a filter stands for the
   * token's subject, `%c` for the client identifier.
   *
   * @default none: a client with such a token connects, and may neither publish nor subscribe
   */
  readonly tokenDefaultRules?: TokenRulesProps;

  /**
   * Web pages that may connect, by origin: `https://app.example.com`. A handshake from a page of another origin is
   * refused in `$connect` (403). Programs other than browsers send no origin, and may connect.
   *
   * @default pages of every site may connect, if they show a token
   */
  readonly allowedOrigins?: readonly string[];

  /**
   * How backends publish over HTTPS (`POST /api/v5/publish`).
   *
   * - `'iam'`: requests are signed with credentials of AWS; `grantPublish` allows a grantee.
   * - `'keys'`: requests carry an API key. The URL is public, and each refused request is billed as a Lambda request
   *   too.
   * - `false`: there is no such URL.
   *
   * @default false
   */
  readonly httpPublish?: 'iam' | 'keys' | false;

  /**
   * Days between two rotations of the secret that the stack generates, from 1 to 1,000. A rotation adds a new key,
   * which signs; the broker accepts the former key until the next rotation, so tokens have to expire before that. The
   * program that makes tokens has to read the secret again, as `apus token` does: the first key of its list signs.
   *
   * @default the owner rotates the secret by hand (`apus token rotate`)
   */
  readonly rotateTokenSecretDays?: number;

  /**
   * An existing secret with the keys of `httpPublish: 'keys'` (docs/deploy.md): one of yours, or one that a deleted
   * broker has left.
   *
   * @default Secrets Manager generates a secret with one key, $0.40 a month
   */
  readonly publishKeysSecret?: ISecret;

  /**
   * Tenants for which backends that sign their requests (`httpPublish: 'iam'`) may publish. A request that names no
   * tenant is for the first one. With `'keys'` each key has its tenant.
   *
   * @default the default tenant alone
   */
  readonly httpPublishTenants?: readonly string[];

  /**
   * Execution environments that are reserved for the function behind `httpPublish`, and the most that it gets. Lambda
   * answers 429 to further requests, and bills nothing for that: so this bounds the bill of a flood of requests to the
   * public URL. A new account has a concurrency of ten in all and can reserve none of it: there a deployment with this
   * prop fails.
   *
   * @default none are reserved: the function gets what the account has left
   */
  readonly publishReservedConcurrency?: number;

  /**
   * How operators call the HTTP API of the deployment: `/api/v5/…`, as at a node (docs/api.md).
   *
   * - `'iam'`: requests are signed with credentials of AWS; `grantApi` allows a grantee.
   * - `{ keysSha256 }`: requests carry a key of at least 16 random bytes; the stack has its SHA-256 in hex. There may
   *   be up to ten keys, so that one can be replaced. The URL is public, and each refused request is billed as a Lambda
   *   request too.
   * - `false`: there is no such URL.
   *
   * @default false
   */
  readonly httpApi?: HttpApiProps;

  /**
   * Execution environments that are reserved for the function behind `httpApi`, and the most that it gets. This bounds
   * the bill of a flood of requests to the public URL. A new account can reserve none.
   *
   * @default none are reserved: the function gets what the account has left
   */
  readonly apiReservedConcurrency?: number;

  /** How many frames clients may send to this broker. @default 500 a second, bursts of 1,000 */
  readonly throttle?: ThrottleProps;

  /** How fast workers post messages of wide filters (more than twelve subscribers). @default 1,000 posts a second */
  readonly fanOut?: FanOutProps;

  /**
   * Seconds from the handshake to CONNECT, from 5 to 600; then the connection is closed. The sweep looks for such
   * connections every ten minutes, so a connection may stay open for ten minutes more. If tokens or passwords are
   * required, a connection whose handshake showed no token is closed after ten seconds.
   *
   * @default 30
   */
  readonly connectTimeoutSeconds?: number;

  /**
   * Seconds, at most 240, within which a client that has lost its connection may resume its session without a CONNECT.
   * Until then a session that ends with its connection keeps up to 32 messages, or 8 KB, for the client. 0: the client
   * cannot resume.
   *
   * @default 60
   */
  readonly resumeSeconds?: number;

  /**
   * Milliseconds from the move of a session to a new connection until its old connection is cut, at most 1,000. With 0
   * the old connection is cut before its subscriptions carry the new one, which keeps the order of a publisher's
   * messages over all topics. Set it if `apus probe` reports that accepted posts do not arrive before a cut. The order
   * is then kept for each subscription, and a move takes that much longer.
   *
   * @default 0
   */
  readonly cutAfterMs?: number;

  /**
   * Extensions of the text frames (docs/text-frames.md, section 10) that the broker does not accept, although clients
   * offer them. Name an extension here if `apus probe` reports that your account does not behave as the extension
   * needs.
   *
   * @default none
   */
  readonly withoutExtensions?: readonly string[];

  /**
   * Quotas of one identity, of one tenant, and of all clients together, where they differ from the defaults
   * (`packages/broker/src/quotas.ts`; docs/fan-out.md, "What one identity may cause"). 0 lifts a quota.
   *
   * @default for an identity 100 frames, 1,000 publishes and 256 KB a second, 3,000 writes and 30,000 deliveries a
   * minute, 10,000 connections and 50,000 sessions; for a tenant six tenths, and for all clients seven tenths, of the
   * messages a minute at which the breaker trips
   */
  readonly quotas?: GivenQuotaScopes;

  /**
   * Topics whose history is kept for readers (docs/streams.md), in a separate table: the list in the file of
   * `apus serve --streams`.
   *
   * @default none, and no such table
   */
  readonly streams?: readonly GivenStream[];

  /**
   * Descriptions of topics (docs/portal.md): the content of the file of `apus serve --topics`. Payloads of topics with
   * `checkPayload` are compared with their schemas, which are compiled at synthesis into a layer of the functions.
   *
   * @default no payload is checked, and there is no layer
   */
  readonly topics?: GivenTopics;

  /**
   * Keeps members of rooms (docs/presence.md), in the table of streams, and tells backends of clients that come and go.
   * Each CONNECT and each end of a connection then looks for such backends.
   *
   * @default false: `$presence/…` is refused
   */
  readonly presence?: boolean;
  /**
   * Counts what each tenant uses (docs/usage.md): up to six writes a minute for each tenant and execution environment.
   *
   * @default false
   */
  readonly usage?: boolean;
  /**
   * Metrics of the tenants with the most messages, with `tenant` as a dimension, and a graph of them. The number, from
   * 1 to 50, is that of the tenants in each minute and execution environment; all others share one metric. $0.60 a
   * month for each.
   *
   * @default none: all metrics are of all tenants together
   */
  readonly tenantMetrics?: number;
  /**
   * Writes the usage of each day into a bucket, as CSV or as JSON lines, a line for each tenant and hour
   * (docs/usage.md). Needs `usage`.
   *
   * @default no export, and no bucket
   */
  readonly usageExport?: 'csv' | 'jsonl';

  /**
   * Bridges from Kafka (docs/bridges.md), as the list in the file of `apus serve --bridges`. The cluster is Amazon MSK,
   * named by its ARN, or another Apache Kafka, named by its brokers. Each bridge is a function, and each of its topics
   * an event source mapping of Lambda.
   *
   * @default none
   */
  readonly kafka?: readonly GivenKafkaBridge[];

  /**
   * Bridges from AWS IoT Core of this account and Region (docs/iot-core.md), as the list in the file of
   * `apus serve --bridges`. Each mapping is an IoT rule; all of them share a queue, its dead-letter queue and a
   * function.
   *
   * @default none
   */
  readonly iotCore?: readonly GivenIotCoreBridge[];

  /**
   * Rules that send messages to webhooks, SQS, EventBridge, Lambda, IoT Core, Kafka, or another topic
   * (docs/bridges.md), as the list in the file of `apus serve --rules`. Secrets are `{ secretArn }`. All rules share a
   * queue, its dead-letter queue and a function.
   *
   * @default none: nothing is created, and no message is compared with rules
   */
  readonly rules?: readonly GivenRule[];

  /**
   * The broker's limits that differ from its defaults, each explained in `packages/broker/src/limits.ts`.
   * @default none
   */
  readonly limits?: Partial<BrokerLimits>;

  /**
   * Stops a runaway within some two minutes: frames of clients, publishes of backends, and workers. With `false` only
   * the throttles limit a runaway.
   *
   * @default 100,000 messages a minute
   */
  readonly breaker?: BreakerProps | false;

  /**
   * Twelve alarms, and more with some other props (docs/deploy.md), and a topic that they notify. With `false` there is
   * only the alarm that trips the breaker.
   *
   * @default alarms with a topic without subscriptions
   */
  readonly alarms?: AlarmProps | false;

  /**
   * A budget of AWS for the costs with this broker's tag. It costs nothing, reports an excess hours late, and stops
   * nothing: that is the breaker's work. It counts only after the tag `apus:broker` is activated as a cost allocation
   * tag in the account's billing.
   *
   * @default none
   */
  readonly budget?: BudgetProps;

  /**
   * Deploys new code gradually: CodeDeploy sends it a tenth of the frames, jobs and requests for ten minutes, and then
   * all. If an alarm on errors goes off within that time, the former code takes all of them again, and CloudFormation
   * rolls back the rest of the deployment. Needs `alarms`. $0.20 a month, for two alarms on workers.
   *
   * @default false: the new code takes everything at once
   */
  readonly rollbackOnAlarm?: boolean;

  /** A dashboard. An account's first three are free, each further one is $3.00 a month. @default true */
  readonly dashboard?: boolean;

  /** The address of the broker. @default the one that API Gateway gives */
  readonly domain?: DomainProps;

  /** The two tables: one for connections and sessions, one for subscriptions, queues and retained messages. */
  readonly table?: TableProps;

  /**
   * The fate of the tables and of the generated secrets when they are removed from the stack.
   *
   * @default RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE: they are kept, unless their creation itself is rolled back
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * A key of yours for the tables, the queues and the generated secrets, at $1.00 a month and $0.03 for 10,000
   * requests. The functions are granted its use.
   *
   * @default keys that AWS owns, which cost nothing
   */
  readonly encryptionKey?: IKey;

  /**
   * With `true` the stack passes the packs NIST 800-53 R5, HIPAA Security and PCI DSS 3.2.1 of cdk-nag. The key of
   * `encryptionKey`, or a rotating key that the stack creates, encrypts the functions' logs and the topics as well; the
   * tables have point-in-time recovery and a daily backup of 35 days. Rules that a broker of this kind cannot follow
   * are acknowledged, each with its reason (docs/deploy.md, "Compliance"). $1.00 a month for the key, $3.70 a GB for
   * the backups.
   *
   * @default false
   */
  readonly compliance?: boolean;

  /**
   * Memory of the functions that handle frames and deliver messages, in MB, from 256 to 10,240. Lambda gives
   * processor time in proportion: 1,769 MB are one processor.
   *
   * @default 512
   */
  readonly memorySizeMegabytes?: number;

  /**
   * Execution environments that are reserved for the gateway's function, and the most that it gets. A new account has a
   * concurrency of ten in all and can reserve none of it: there a deployment with this prop fails.
   *
   * @default none are reserved
   */
  readonly reservedConcurrency?: number;

  /** The lowest level that the functions log. A line for each frame would cost as much as the frame. @default 'warn' */
  readonly logLevel?: 'error' | 'warn' | 'info' | 'debug';

  /** How long logs are kept. @default RetentionDays.TWO_WEEKS */
  readonly logRetention?: RetentionDays;

  /** A line in API Gateway's access log for every frame: $0.25 to $0.50 a million. @default false */
  readonly accessLogs?: AccessLogProps | boolean;

  /**
   * Traces in X-Ray: one frame each second and every twentieth beyond, $5.00 for a million traces.
   *
   * @default false
   */
  readonly tracing?: boolean;

  /**
   * A collector of OpenTelemetry that takes OTLP over HTTP: `https://collector.example.com`. Functions send it the
   * traces of messages whose publishers ask for them (docs/observability.md), each at the end of its event.
   *
   * @default no traces
   */
  readonly otlpUrl?: string;

  /**
   * Namespace of the metrics in CloudWatch; one for each broker.
   * @default `Apus/`, the stack's name and the construct's path in it
   */
  readonly metricsNamespace?: string;
}

export interface ThrottleProps {
  /** Frames a second, of all clients together, from 1 up. The account's quota (10,000) is above it. @default 500 */
  readonly framesPerSecond?: number;
  /** Frames that may come at once, from 1 up; the account's quota is 5,000. @default twice `framesPerSecond` */
  readonly burstFrames?: number;
}

export interface FanOutProps {
  /**
   * Posts a second of all workers together, from 20 to 256,000. Posts draw on the account's quota of requests (10,000
   * a second), which frames and your other APIs share: the default takes a tenth of it.
   *
   * @default 1,000
   */
  readonly maxPostsPerSecond?: number;
}
