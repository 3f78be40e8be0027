import type { ValuesOf } from '@apus/aws/function-options';
import type { GivenIotCoreBridge, GivenKafkaBridge } from '@apus/bridges/lambda';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Authentication, TokenRulesProps } from './authentication-props.ts';
import type { AlarmProps, BreakerProps, BudgetProps, DomainProps } from './operation-props.ts';
import type { FAN_OUT, THROTTLE } from './option-groups.ts';
import type { BROKER } from './options.ts';
import type { TableProps } from './table-props.ts';

export type * from './operation-props.ts';

/** How operators authenticate: with a signature of AWS, or with a key whose SHA-256 in hex is listed here. */
export type HttpApiProps = 'iam' | { readonly keysSha256: readonly string[] } | false;

/**
 * The props of an `ApusBroker`. Each has a default: `new ApusBroker(stack, 'Broker')` is a whole broker. The rows of
 * `BROKER` are props; here are those that a row does not describe.
 */
export interface ApusBrokerProps extends ValuesOf<typeof BROKER> {
  /**
   * Authentication in the most frequent cases. A token is checked in `$connect`, before a connection exists that could
   * cost money.
   * @default 'generated-secret', or what `identity` says
   */
  readonly authentication?: Authentication;
  /**
   * The rules of tokens that name no filters: many identity providers cannot add them. `%u` in a filter stands for the
   * token's subject, `%c` for the client identifier.
   * @default none: a client with such a token connects, and may neither publish nor subscribe
   */
  readonly tokenDefaultRules?: TokenRulesProps;
  /**
   * An existing secret with the keys of `httpPublish: 'keys'` (docs/deploy-settings.md): one of yours, or one that a deleted
   * broker has left.
   * @default Secrets Manager generates a secret with one key, $0.40 a month
   */
  readonly publishKeysSecret?: ISecret;
  /**
   * How operators call the HTTP API of the deployment: `/api/v5/…`, as at a node (docs/generated/api.md).
   *
   * - `'iam'`: requests are signed with credentials of AWS; `grantApi` allows a grantee.
   * - `{ keysSha256 }`: requests carry a key of at least 16 random bytes; the stack has its SHA-256 in hex. There may
   *   be up to ten keys, so that one can be replaced. The URL is public, and each refused request is billed as a Lambda
   *   request too.
   * - `false`: there is no such URL.
   * @default false
   */
  readonly httpApi?: HttpApiProps;
  /** How many frames clients may send to this broker. @default 500 a second, bursts of 1,000 */
  readonly throttle?: ThrottleProps;
  /** How fast workers post messages of wide filters (more than twelve subscribers). @default 1,000 posts a second */
  readonly fanOut?: FanOutProps;
  /**
   * Bridges from Kafka (docs/bridges.md), as the list in the file of `apus serve --bridges`. The cluster is Amazon MSK,
   * named by its ARN, or another Apache Kafka, named by its brokers. Each bridge is a function, and each of its topics
   * an event source mapping of Lambda.
   * @default none
   */
  readonly kafka?: readonly GivenKafkaBridge[];
  /**
   * Bridges from AWS IoT Core of this account and Region (docs/iot-core.md), as the list in the file of
   * `apus serve --bridges`. Each mapping is an IoT rule; all of them share a queue, its dead-letter queue and a
   * function.
   * @default none
   */
  readonly iotCore?: readonly GivenIotCoreBridge[];
  /**
   * Stops a runaway within some two minutes: frames of clients, publishes of backends, and workers. With `false` only
   * the throttles limit a runaway.
   * @default 100,000 messages a minute
   */
  readonly breaker?: BreakerProps | false;
  /**
   * Twelve alarms, and more with some other props (docs/deploy-operations.md), and a topic that they notify. With `false` there is
   * only the alarm that trips the breaker.
   * @default alarms with a topic without subscriptions
   */
  readonly alarms?: AlarmProps | false;
  /**
   * A budget of AWS for the costs with this broker's tag. It costs nothing, reports an excess hours late, and stops
   * nothing: that is the breaker's work. It counts only after the tag `apus:broker` is activated as a cost allocation
   * tag in the account's billing.
   * @default none
   */
  readonly budget?: BudgetProps;
  /** The address of the broker. @default the one that API Gateway gives */
  readonly domain?: DomainProps;
  /** The two tables: one for connections and sessions, one for subscriptions, queues and retained messages. */
  readonly table?: TableProps;
  /**
   * The fate of the tables and of the generated secrets when they are removed from the stack.
   * @default RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE: they are kept, unless their creation itself is rolled back
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * A key of yours for the tables, the queues and the generated secrets, at $1.00 a month and $0.03 for 10,000
   * requests. The functions are granted its use.
   * @default keys that AWS owns, which cost nothing
   */
  readonly encryptionKey?: IKey;
  /** How long logs are kept. @default RetentionDays.TWO_WEEKS */
  readonly logRetention?: RetentionDays;
}

export interface ThrottleProps extends ValuesOf<typeof THROTTLE> {}

export interface FanOutProps extends ValuesOf<typeof FAN_OUT> {}
