import { ALIVE_ROUTE } from '@apus/cloud/lambda';
import type { Dashboard, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FunctionUrlAuthType, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { RemovalPolicy, Tags } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { GatewayApi, type GatewayStage } from './api.ts';
import { createVerification, type Verification } from './authentication.ts';
import { breakerJson } from './breaker-settings.ts';
import { calledAs } from './broker-function.ts';
import { BROKER_TAG } from './budget.ts';
import { checkProps } from './check-props.ts';
import { createBackups, serviceKeyOf, withCompliance } from './compliance.ts';
import { MEMORY_MEGABYTES, POSTS_PER_SECOND } from './defaults.ts';
import { sharedEnvironment } from './environment.ts';
import { type FunctionDefaults, Functions } from './functions.ts';
import { HttpApi, type HttpApiFunctionProps } from './http-api.ts';
import { HttpPublish } from './http-publish.ts';
import { authorizationFunctionOf, isSigned } from './identity.ts';
import { createIotCoreSources } from './iot-core.ts';
import { createKafkaSources } from './kafka.ts';
import { BrokerMetrics, namespaceOf } from './metrics.ts';
import { createOperations } from './operations.ts';
import { createPayloadChecks } from './payload-checks.ts';
import type { Resources } from './permissions.ts';
import type { ApusBrokerProps } from './props.ts';
import { PropsError } from './props-error.ts';
import { createFanOutQueue, createRuleQueues, createTimerQueue } from './queues.ts';
import { createRotation } from './rotation.ts';
import { createRulesFunction } from './rules.ts';
import { connectSources, fanOutBudget } from './sources.ts';
import { type BrokerTable, StateTables } from './table.ts';
import { tableMaximumOf } from './table-maximum.ts';
import { UsageExport } from './usage-export.ts';

/**
 * An MQTT broker: a WebSocket API, functions, two tables, two queues, and alarms for them. docs/deploy.md has its costs
 * while no client uses it.
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
   * The operator's function: it lists, kicks and bans clients, lists members of rooms, and reads streams. Invoked by
   * `apus`, or with JSON (docs/runbook.md).
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

  constructor(scope: Construct, id: string, given: ApusBrokerProps = {}) {
    super(scope, id);
    checkProps(this, given);
    const props = withCompliance(this, given, removalPolicyOf(given));
    Tags.of(this).add(BROKER_TAG, this.node.path);
    const resources = this.#createResources(props);
    if (props.compliance === true) createBackups(this, resources.state, props.encryptionKey);
    const namespace = props.metricsNamespace ?? namespaceOf(this);
    const secretProps = { removalPolicy: removalPolicyOf(props), encryptionKey: props.encryptionKey };
    const verification = createVerification(this, props, secretProps);
    const checks = createPayloadChecks(this, props.topics);
    const defaults = {
      environment: {
        ...sharedEnvironment(resources, props, namespace),
        ...verification.sharedVariables,
        ...checks?.variables,
      },
      layers: checks === undefined ? [] : [checks.layer],
      memorySizeMegabytes: props.memorySizeMegabytes ?? MEMORY_MEGABYTES,
      logRetention: props.logRetention ?? RetentionDays.TWO_WEEKS,
      logKey: serviceKeyOf(props),
      tracing: props.tracing ?? false,
      resources,
    };
    const budget = fanOutBudget(props.fanOut?.maxPostsPerSecond ?? POSTS_PER_SECOND);
    const functions = new Functions(this, {
      ...defaults,
      verification,
      postsPerWorkerSecond: budget.postsPerWorkerSecond,
      reservedConcurrency: props.reservedConcurrency,
      hasAliases: props.rollbackOnAlarm ?? false,
    });
    const stage = this.#createStage(resources.api, functions, props);
    const sources = connectSources(this, functions, resources, budget);
    this.#rotate(props, verification, defaults);
    const protection = props.httpPublish ?? false;
    this.#httpPublish =
      protection === false
        ? undefined
        : new HttpPublish(this, {
            ...defaults,
            protection,
            secretProps,
            tenants: props.httpPublishTenants,
            reservedConcurrency: props.publishReservedConcurrency,
            hasAlias: props.rollbackOnAlarm ?? false,
            keysSecret: props.publishKeysSecret,
          });
    const rules =
      resources.rules &&
      createRulesFunction(this, { ...defaults, queues: resources.rules, rules: props.rules ?? [] });
    this.rules = rules;
    const apiProtection = props.httpApi ?? false;
    this.#httpApi =
      apiProtection === false
        ? undefined
        : new HttpApi(this, {
            ...defaults,
            protection: apiProtection,
            stage,
            breaker: breakerJson(props, resources.api, stage),
            bridges: props,
            rules,
            topics: props.topics,
            clientUrl: props.domain === undefined ? undefined : stage.url,
            allowedOrigins: props.allowedOrigins,
            reservedConcurrency: props.apiReservedConcurrency,
          });
    const kafka = createKafkaSources(this, { ...defaults, bridges: props.kafka ?? [] });
    const iotCore = createIotCoreSources(this, {
      ...defaults,
      bridges: props.iotCore ?? [],
      encryptionKey: props.encryptionKey,
    });
    const usageExport = this.#exportUsage(props, defaults);
    this.usageBucket = usageExport?.bucket;
    this.#api = resources.api;
    this.#isSigned = isSigned(props);
    this.#metrics = new BrokerMetrics(namespace, resources.api);
    const operations = createOperations(this, props, {
      ...defaults,
      ...resources,
      metrics: this.#metrics,
      functions,
      stage,
      sources,
      publish: this.#httpPublish?.lambda,
      httpApi: this.#httpApi?.lambda,
      kafka,
      iotCore,
      rulesFunction: rules,
      usageExport: usageExport?.lambda,
      hasTenantMetrics: props.tenantMetrics !== undefined,
    });
    this.url = stage.url;
    this.domainTarget = stage.domainTarget;
    this.apiId = resources.api.api.apiId;
    this.table = resources.state.table;
    this.sessionsTable = resources.state.sessionsTable;
    this.streamsTable = resources.state.streamsTable;
    this.tokenSecret = verification.secret;
    this.publishKeys = this.#httpPublish?.keys;
    this.encryptionKey = props.encryptionKey;
    this.alarmTopic = operations.alarmTopic;
    this.breaker = operations.breaker;
    this.dashboard = operations.dashboard;
    this.operator = functions.operator;
  }

  /**
   * The URL for backends: `https://…/`, to which they append `api/v5/publish`.
   *
   * @throws {PropsError} with `httpPublish: false`
   */
  get httpPublishUrl(): string {
    return this.#requireHttpPublish().url.url;
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
    return this.#requireHttpApi().url.url;
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

  /** Allows a grantee to list, kick and ban clients: `apus ban --stack …` with its AWS credentials. */
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

  /** QoS 0 messages dropped for slow consumers. @default the sum over a minute */
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

  #createResources(props: ApusBrokerProps): Resources {
    const { encryptionKey } = props;
    const state = new StateTables(this, {
      ...props.table,
      maximum: tableMaximumOf(props),
      hasStreams: (props.streams ?? []).length > 0,
      hasPresence: props.presence === true,
      removalPolicy: removalPolicyOf(props),
      ...(encryptionKey !== undefined && { encryptionKey }),
    });
    const fanOut = createFanOutQueue(this, encryptionKey);
    const timers = createTimerQueue(this, encryptionKey);
    const rules = (props.rules ?? []).length > 0 ? createRuleQueues(this, encryptionKey) : undefined;
    const authorizationFunction = authorizationFunctionOf(props);
    return { state, fanOut, timers, rules, api: new GatewayApi(this), authorizationFunction };
  }

  #createStage(api: GatewayApi, { gateway, disconnect }: Functions, props: ApusBrokerProps): GatewayStage {
    const { accessLogs = false, withoutExtensions = [] } = props;
    api.route(calledAs(gateway), calledAs(disconnect), isSigned(props));
    if (!withoutExtensions.includes(ALIVE_ROUTE)) api.routeSignsOfLife();
    return api.createStage({
      throttle: props.throttle ?? {},
      accessLogs: accessLogs === false ? undefined : accessLogs === true ? {} : accessLogs,
      domain: props.domain,
      logKey: serviceKeyOf(props),
    });
  }

  #exportUsage(
    props: ApusBrokerProps,
    defaults: FunctionDefaults & Pick<HttpApiFunctionProps, 'resources'>,
  ): UsageExport | undefined {
    const { usageExport: format, encryptionKey, compliance: isVersioned = false } = props;
    if (format === undefined) return undefined;
    const { table } = defaults.resources.state;
    const removalPolicy = removalPolicyOf(props);
    return new UsageExport(this, { ...defaults, table, format, encryptionKey, removalPolicy, isVersioned });
  }

  #rotate(
    { rotateTokenSecretDays: days }: ApusBrokerProps,
    { secret }: Verification,
    { logRetention, logKey, tracing }: FunctionDefaults,
  ): void {
    if (days === undefined) return;
    if (secret instanceof Secret) createRotation(this, { secret, days, logRetention, logKey, tracing });
    else
      throw new PropsError(
        this,
        'rotateTokenSecretDays is for the secret that the stack generates, and there is none.',
      );
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

function removalPolicyOf({ removalPolicy }: ApusBrokerProps): RemovalPolicy {
  return removalPolicy ?? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}
