import { VARIABLES } from '@apus/aws/lambda';
import { deployedBridgesJson } from '@apus/bridges/lambda';
import type { GivenTopics } from '@apus/topics';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type FunctionUrl, FunctionUrlAuthType, HttpMethod } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledgeRule, acknowledgeWildcard } from './acknowledge.ts';
import type { GatewayStage } from './api.ts';
import { grantInvoke } from './authentication.ts';
import { BrokerFunction } from './broker-function.ts';
import { MEMORY_MEGABYTES_SMALL, OPERATOR_TIMEOUT } from './defaults.ts';
import { createDescribedTopics } from './described-topics.ts';
import type { FunctionDefaults } from './functions.ts';
import { grantBroker, type Resources } from './permissions.ts';
import type { ApusBrokerProps, HttpApiProps } from './props.ts';
import { PropsError } from './props-error.ts';

/** All variables of a function together have 4 KB. */
const BRIDGES_BYTES_MAX = 2_048;

export interface HttpApiFunctionProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly stage: GatewayStage;
  /** The settings of the breaker as JSON. Undefined: there is none. */
  readonly breaker: string | undefined;
  readonly bridges: Pick<ApusBrokerProps, 'kafka' | 'iotCore'>;
  /** The function that sends messages to the targets of rules; undefined without rules. */
  readonly rules: BrokerFunction | undefined;
  /** Undefined if no topics are described. */
  readonly topics: GivenTopics | undefined;
  /** The URL for clients of a custom domain; undefined without one. */
  readonly clientUrl: string | undefined;
  readonly protection: Exclude<HttpApiProps, false>;
  /** Origins of pages that may call it from a browser; undefined: any page with the key. */
  readonly allowedOrigins: readonly string[] | undefined;
  readonly reservedConcurrency: number | undefined;
}

/**
 * The HTTP API of operators: a function with a URL and the permissions of the operator's function. It costs nothing
 * while it is idle.
 */
export class HttpApi {
  readonly lambda: BrokerFunction;
  readonly url: FunctionUrl;

  constructor(scope: Construct, props: HttpApiFunctionProps) {
    const { resources, protection, environment, allowedOrigins = ['*'], reservedConcurrency } = props;
    const { logRetention, logKey, tracing, layers = [] } = props;
    const { rules, clientUrl, breaker, stage } = props;
    const bridges = bridgesJson(scope, props.bridges);
    const keys = protection === 'iam' ? undefined : protection.keysSha256;
    const topics = createDescribedTopics(scope, props.topics);
    this.lambda = new BrokerFunction(scope, 'HttpApi', {
      entry: 'api',
      description: 'Apus: the HTTP API of operators',
      environment: {
        ...environment,
        ...(rules !== undefined && { [VARIABLES.rulesFunctionArn]: rules.functionArn }),
        ...topics?.variables,
        ...(bridges !== undefined && { [VARIABLES.bridges]: bridges }),
        ...(breaker !== undefined && { [VARIABLES.breaker]: breaker }),
        ...(topics !== undefined && clientUrl !== undefined && { [VARIABLES.clientUrl]: clientUrl }),
        ...(keys !== undefined && { [VARIABLES.apiKeysSha256]: keys.join(',') }),
      },
      timeout: OPERATOR_TIMEOUT,
      memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
      logRetention,
      logKey,
      tracing,
      layers: topics === undefined ? layers : [...layers, topics.layer],
      hasAlias: false,
      // [SEC-API-1] Not by default: an account with a concurrency of ten cannot deploy it.
      ...(reservedConcurrency !== undefined && { reservedConcurrency }),
    });
    grantBroker(this.lambda, resources);
    resources.state.grantScanSessions(this.lambda);
    if (rules !== undefined) grantInvoke(this.lambda, [rules.functionArn]);
    this.#grantMetrics();
    if (breaker !== undefined) {
      // [SEC-QUOTA-7] The throttle of the stage says whether the breaker has tripped.
      this.lambda.addToRolePolicy(
        new PolicyStatement({ actions: ['apigateway:GET'], resources: [stage.arn] }),
      );
    }
    this.url = this.lambda.addFunctionUrl({
      authType: keys === undefined ? FunctionUrlAuthType.AWS_IAM : FunctionUrlAuthType.NONE,
      // Lambda answers preflights itself. A page has to send the key: browsers add no credentials by themselves.
      ...(keys !== undefined && {
        cors: {
          allowedOrigins: [...allowedOrigins],
          allowedMethods: [HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.DELETE],
          allowedHeaders: ['authorization', 'content-type', 'apus-tenant'],
          maxAge: Duration.hours(1),
        },
      }),
    });
    if (keys === undefined) return;
    acknowledgeRule(
      this.lambda,
      'LambdaFunctionPublicAccessProhibited',
      "The owner asked for it (httpApi: { keysSha256 }): the function asks every request for a key before it reads its body. With 'iam' Lambda itself asks for a signature.",
    );
  }

  /** CloudWatch has no permission for a single namespace. */
  #grantMetrics(): void {
    this.lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['cloudwatch:GetMetricData'], resources: ['*'] }),
    );
    acknowledgeWildcard(
      this.lambda.ownRole,
      '*',
      'GetMetricData knows no resources. The function asks for the metrics of its own namespace, and of its stage.',
    );
  }
}

/** Undefined where there are none. @throws {PropsError} */
function bridgesJson(
  scope: Construct,
  { kafka = [], iotCore = [] }: HttpApiFunctionProps['bridges'],
): string | undefined {
  if (kafka.length + iotCore.length === 0) return undefined;
  const json = deployedBridgesJson(kafka, iotCore);
  const bytes = Buffer.byteLength(json);
  if (bytes <= BRIDGES_BYTES_MAX) return json;
  throw new PropsError(
    scope,
    `the list of bridges has ${bytes} bytes as JSON, and the function of httpApi takes ${BRIDGES_BYTES_MAX}: fewer bridges with more topics each, or fewer brokers named of each.`,
  );
}
