import type { Dashboard, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FunctionUrlAuthType, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Lazy, Tags } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { suppressForNag2 } from './acknowledge.ts';
import type { GatewayApi } from './api.ts';
import { createParts, removalPolicyOf } from './broker-parts.ts';
import { BROKER_TAG } from './budget.ts';
import { checkProps } from './check-props.ts';
import { withCompliance } from './compliance.ts';
import { adaptToEmulator, emulatedFunctionUrl, emulatedUrl } from './emulated.ts';
import type { HttpApi } from './http-api.ts';
import type { HttpPublish } from './http-publish.ts';
import { isSigned } from './identity.ts';
import type { BrokerMetrics } from './metrics.ts';
import type { ApusBrokerProps } from './props.ts';
import { PropsError } from './props-error.ts';
import type { BrokerTable } from './table.ts';

/**
 * An MQTT broker: a WebSocket API, functions, two tables, two queues, and alarms for them. docs/deploy-operations.md has its
 * costs while no client uses it.
 *
 * @example
 * const broker = new ApusBroker(stack, 'Broker', { alarms: { email: 'ops@example.com' } });
 * broker.grantPublish(backend);
 * backend.addEnvironment('APUS_URL', broker.httpPublishUrl);
 */
export class ApusBroker extends Construct {
  /** The URL to which clients connect: `wss://…/mqtt`. */
  readonly url: string;
  /** The table of queued and retained messages, and subscriptions. */
  readonly table: BrokerTable;
  /** The table of connections and sessions. */
  readonly sessionsTable: BrokerTable;
  /** The table of the history of streams, and of members of rooms; undefined without both. */
  readonly streamsTable: BrokerTable | undefined;
  /** The secret that signs tokens; undefined if an identity provider signs them, or none are required. */
  readonly tokenSecret: ISecret | Secret | undefined;
  /** The secret with the keys of `httpPublish: 'keys'`. */
  readonly publishKeys: ISecret | Secret | undefined;
  /** The key of `encryptionKey`, or the one that `compliance` has created. */
  readonly encryptionKey: IKey | undefined;
  /** The topic that alarms notify; undefined with `alarms: false`. */
  readonly alarmTopic: ITopic | undefined;
  /** The breaker's function. Call it with `{"action":"reset"}` to end a stop. Undefined with `breaker: false`. */
  readonly breaker: IFunction | undefined;
  /** The dashboard. Its address is the output `DashboardUrl` of `ApusStack`. Undefined with `dashboard: false`. */
  readonly dashboard: Dashboard | undefined;
  /**
   * The operator's function, which answers the HTTP API to invocations: by `apus`, or by hand (docs/runbook.md).
   */
  readonly operator: IFunction;
  /**
   * The function that sends messages to the targets of `rules`: grant it access to resources that you own. Undefined
   * without rules.
   */
  readonly rules: IFunction | undefined;
  /** The target for the DNS record of a custom domain, if its zone is elsewhere. */
  readonly domainTarget: string | undefined;
  /** The id of the WebSocket API, such as `a1b2c3d4e5`. */
  readonly apiId: string;
  /** The bucket with the files of `usageExport`; undefined without it. */
  readonly usageBucket: Bucket | undefined;
  readonly #httpPublish: HttpPublish | undefined;
  readonly #httpApi: HttpApi | undefined;
  readonly #metrics: BrokerMetrics;
  readonly #api: GatewayApi;
  readonly #isSigned: boolean;
  #emulator: string | undefined;

  constructor(scope: Construct, id: string, given: ApusBrokerProps = {}) {
    super(scope, id);
    checkProps(this, given);
    const props = withCompliance(this, given, removalPolicyOf(given));
    Tags.of(this).add(BROKER_TAG, this.node.path);
    suppressForNag2(this);
    const parts = createParts(this, props);
    const { api, state } = parts.resources;
    this.url = this.#addressOf(parts.stage.url, (endpoint) => emulatedUrl(endpoint, this.apiId));
    this.domainTarget = parts.stage.domainTarget;
    this.apiId = api.api.apiId;
    this.table = state.table;
    this.sessionsTable = state.sessionsTable;
    this.streamsTable = state.streamsTable;
    this.tokenSecret = parts.verification.secret;
    this.publishKeys = parts.httpPublish?.keys;
    this.encryptionKey = props.encryptionKey;
    this.alarmTopic = parts.operations.alarmTopic;
    this.breaker = parts.operations.breaker;
    this.dashboard = parts.operations.dashboard;
    this.operator = parts.functions.operator;
    this.rules = parts.rules;
    this.usageBucket = parts.usageExport?.bucket;
    this.#httpPublish = parts.httpPublish;
    this.#httpApi = parts.httpApi;
    this.#metrics = parts.metrics;
    this.#api = api;
    this.#isSigned = isSigned(props);
  }

  /**
   * The URL for backends: `https://…/`, to which they append `api/v5/publish`.
   *
   * @throws {PropsError} with `httpPublish: false`
   */
  get httpPublishUrl(): string {
    const { url } = this.#requireHttpPublish().url;
    return this.#addressOf(url, (endpoint) => emulatedFunctionUrl(endpoint, url));
  }

  /**
   * Allows a grantee to publish over HTTPS with its AWS credentials.
   *
   * @throws {PropsError} unless `httpPublish` is `'iam'`
   */
  grantPublish(grantee: IGrantable): Grant {
    const { url, keys } = this.#requireHttpPublish();
    if (keys !== undefined) {
      throw new PropsError(
        this,
        "grantPublish is for httpPublish: 'iam'; with 'keys' every backend with a key may publish.",
      );
    }
    return url.grantInvokeUrl(grantee);
  }

  /**
   * The URL of the HTTP API for operators: `https://…/`, to which they append `api/v5/clients`.
   *
   * @throws {PropsError} with `httpApi: false`
   */
  get httpApiUrl(): string {
    const { url } = this.#requireHttpApi().url;
    return this.#addressOf(url, (endpoint) => emulatedFunctionUrl(endpoint, url));
  }

  /**
   * Allows a grantee to call the HTTP API with its AWS credentials.
   *
   * @throws {PropsError} unless `httpApi` is `'iam'`
   */
  grantApi(grantee: IGrantable): Grant {
    const { url } = this.#requireHttpApi();
    if (url.authType === FunctionUrlAuthType.AWS_IAM) return url.grantInvokeUrl(grantee);
    throw new PropsError(
      this,
      "grantApi is for httpApi: 'iam'; with keys every holder of a key may call it.",
    );
  }

  /** Allows a grantee to operate clients, users and tenants: `apus ban --stack …` with its AWS credentials. */
  grantOperate(grantee: IGrantable): Grant {
    return this.operator.grantInvoke(grantee);
  }

  /**
   * Allows a grantee to connect with its AWS credentials.
   *
   * @throws {PropsError} unless clients sign (`authentication: { iam }`)
   */
  grantConnect(grantee: IGrantable): Grant {
    if (this.#isSigned) return this.#api.grantConnect(grantee);
    throw new PropsError(this, 'grantConnect is for authentication: { iam }; here clients show a token.');
  }

  /**
   * Open connections, counted every ten minutes.
   * @default the average over ten minutes
   */
  metricConnections(options?: MetricOptions): Metric {
    return this.#metrics.connections(options);
  }

  /**
   * PUBLISH packets accepted from clients and backends.
   * @default the sum over a minute
   */
  metricMessagesIn(options?: MetricOptions): Metric {
    return this.#metrics.messagesIn(options);
  }

  /**
   * PUBLISH packets for clients that were handed to the gateway.
   * @default the sum over a minute
   */
  metricMessagesOut(options?: MetricOptions): Metric {
    return this.#metrics.messagesOut(options);
  }

  /**
   * Milliseconds from publish to post, of messages that workers deliver.
   * @default the 99th percentile over a minute
   */
  metricFanOutLatency(options?: MetricOptions): Metric {
    return this.#metrics.fanOutLatency(options);
  }

  /** Posts to connections that were gone (410). @default the sum over a minute */
  metricPostsGone(options?: MetricOptions): Metric {
    return this.#metrics.postsGone(options);
  }

  /** Posts refused for their rate (429). @default the sum over a minute */
  metricPostsThrottled(options?: MetricOptions): Metric {
    return this.#metrics.postsThrottled(options);
  }

  /**
   * Calls about connections that the gateway answered with an error or not at all, and posts that were given up as it
   * refused them (429).
   * @default the sum over a minute
   */
  metricPostsFailed(options?: MetricOptions): Metric {
    return this.#metrics.postsFailed(options);
  }

  /** Messages that were dropped, for whatever reason (docs/observability.md). @default the sum over a minute */
  metricMessagesDropped(options?: MetricOptions): Metric {
    return this.#metrics.messagesDropped(options);
  }

  /** Handshakes refused for their token. @default the sum over a minute */
  metricTokensRefused(options?: MetricOptions): Metric {
    return this.#metrics.tokensRefused(options);
  }

  /** Frames, replies and posts, as API Gateway bills them. @default the sum over a minute */
  metricGatewayMessages(options?: MetricOptions): Metric {
    return this.#metrics.gatewayMessages(options);
  }

  /** Frames and handshakes that failed. @default the sum over a minute */
  metricIntegrationErrors(options?: MetricOptions): Metric {
    return this.#metrics.integrationErrors(options);
  }

  /** For one broker what the function `pointAtEmulator` does for an app. */
  pointAtEmulator(endpoint: string): void {
    this.#emulator = endpoint;
    adaptToEmulator(this, endpoint, this.apiId);
  }

  /** Read at synthesis: an output may have it before the broker is pointed at an emulator. */
  #addressOf(url: string, emulated: (endpoint: string) => string): string {
    return Lazy.string({ produce: () => (this.#emulator === undefined ? url : emulated(this.#emulator)) });
  }

  #requireHttpApi(): HttpApi {
    if (this.#httpApi !== undefined) return this.#httpApi;
    throw new PropsError(this, 'there is no HTTP API of operators, since httpApi is false.');
  }

  #requireHttpPublish(): HttpPublish {
    if (this.#httpPublish !== undefined) return this.#httpPublish;
    throw new PropsError(this, 'there is no HTTP endpoint, since httpPublish is false.');
  }
}
