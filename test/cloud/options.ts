import type { Cloud, CloudOptions, FanOutWorkerOptions } from '@apus/aws/lambda';
import type { Authenticator, Authorizer, BrokerLimits, Clock, GivenStream, QuotaScopes } from '@apus/broker';
import type { DynamoDb, DynamoDbFaults, EmulatorOptions, Faults } from '@apus/emulated-aws';
import type { DynamoOptions } from '@apus/store-dynamodb';
import type { Outside, OutsideFunctions } from './outside.ts';

/** Changes to a deployment with which a test shows the purpose of a protection. */
export interface Alterations {
  /** A wrapper between the stores and DynamoDB. */
  readonly dynamo?: (client: CloudOptions['dynamo']) => CloudOptions['dynamo'];
  /** Options of the stores, instead of those of a deployment. */
  readonly stores?: CloudOptions['stores'];
  /** Changes the parts of an execution environment. */
  readonly cloud?: (cloud: Cloud) => void;
  /** The functions for rules and bridges. */
  readonly outside?: (functions: OutsideFunctions) => OutsideFunctions;
}

export interface CloudWorldOptions {
  readonly seed: number;
  readonly clock?: Clock & NonNullable<EmulatorOptions['clock']>;
  readonly faults?: Faults;
  readonly dynamoFaults?: DynamoDbFaults;
  /** Subscribers of a filter that its head holds. @default the store's own */
  readonly inlineSubscribersMax?: number;
  readonly shardSubscribers?: number;
  /** Names of completed QoS 2 copies in a session's record. @default the store's own */
  readonly completed?: DynamoOptions['completed'];
  /** Timeout of the workers, and visibility timeout of their queues. @default 30 */
  readonly workerSeconds?: number;
  /**
   * The memory of the workers.
   * @default a deployment's
   */
  readonly workerLimits?: FanOutWorkerOptions['limits'];
  /** @default every client is accepted, without a name */
  readonly authenticator?: Authenticator;
  /** @default every client may do everything */
  readonly authorizer?: Authorizer;
  /** The check of tokens in a handshake and in AUTH. @default nothing */
  readonly tokens?: CloudOptions['tokens'];
  readonly handshakes?: CloudOptions['handshakes'];
  /** Asks for signed handshakes. @default API Gateway asks for nothing */
  readonly iamCallers?: EmulatorOptions['iamCallers'];
  readonly limits?: Partial<BrokerLimits>;
  /** @default no limit */
  readonly quotas?: QuotaScopes;
  /** Of the gateway. @default AWS's */
  readonly gatewayLimits?: EmulatorOptions['limits'];
  /**
   * The age at which clients are told that their connection will be cut.
   * @default the gateway's
   */
  readonly connectionSeconds?: () => number;
  /**
   * How long after a loss a client may resume its session.
   * @default a deployment's
   */
  readonly resumeSeconds?: number;
  /** Milliseconds from a session's move to the cut of its old connection. @default 0: before its subscriptions move */
  readonly cutAfterMs?: number;
  /**
   * The streams, in the form of `apus serve --streams`.
   * @default none
   */
  readonly streams?: readonly GivenStream[];
  /** Members of rooms are kept. @default false */
  readonly presence?: boolean;
  /** Compares payloads with the schemas of their topics. @default every payload is taken */
  readonly payloads?: CloudOptions['payloads'];
  /** Records traces. @default none */
  readonly tracer?: CloudOptions['tracer'];
  /** The usage of tenants is counted. @default false */
  readonly usage?: boolean;
  /**
   * Tenants with known filter shapes from the start, if time is real.
   * @default the default tenant
   */
  readonly tenants?: readonly string[];
  /**
   * Their shapes besides the usual ones.
   * @default none
   */
  readonly shapes?: readonly string[];
  /**
   * Another system with a rule's target and a source of records.
   * @default none
   */
  readonly outside?: Outside;
  readonly alterations?: Alterations;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** Called when an execution environment begins to handle a frame, with its MQTT bytes. */
  readonly onFrame?: (environmentId: string, bytes: Buffer) => void;
}

/** The parts of every deployment under test, with sockets or without. */
export interface World {
  readonly url: string;
  readonly dynamoDb: DynamoDb;
  /** Errors that functions threw or logged. */
  readonly failures: string[];
  /** Messages in the dead-letter queues. */
  deadLetters(): number;
}
