import { VARIABLES } from '@apus/cloud/lambda';
import { type FunctionUrl, FunctionUrlAuthType, HttpMethod } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledgeRule } from './acknowledge.ts';
import { BrokerFunction } from './broker-function.ts';
import { MEMORY_MEGABYTES_SMALL, OPERATOR_TIMEOUT } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import { grantBroker, type Resources } from './permissions.ts';
import type { HttpApiProps } from './props.ts';

export interface HttpApiFunctionProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly protection: Exclude<HttpApiProps, false>;
  /** Pages that may call it from a browser; undefined: pages of every site, where they show the key. */
  readonly allowedOrigins: readonly string[] | undefined;
  readonly reservedConcurrency: number | undefined;
}

/** The HTTP API of operators: a function with a URL, which has what the operator's function has. Idle, it costs nothing. */
export class HttpApi {
  readonly lambda: BrokerFunction;
  readonly url: FunctionUrl;

  constructor(scope: Construct, props: HttpApiFunctionProps) {
    const { resources, protection, environment, allowedOrigins = ['*'], reservedConcurrency } = props;
    const { logRetention, logKey, tracing, layers = [] } = props;
    const keys = protection === 'iam' ? undefined : protection.keysSha256;
    this.lambda = new BrokerFunction(scope, 'HttpApi', {
      entry: 'api',
      description: 'Apus: the HTTP API of operators',
      environment: {
        ...environment,
        ...(keys !== undefined && { [VARIABLES.apiKeysSha256]: keys.join(',') }),
      },
      timeout: OPERATOR_TIMEOUT,
      memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
      logRetention,
      logKey,
      tracing,
      layers,
      hasAlias: false,
      // [SEC-API-1] Not by default: an account with a concurrency of ten cannot deploy it.
      ...(reservedConcurrency !== undefined && { reservedConcurrency }),
    });
    grantBroker(this.lambda, resources);
    resources.state.grantScanSessions(this.lambda);
    this.url = this.lambda.addFunctionUrl({
      authType: keys === undefined ? FunctionUrlAuthType.AWS_IAM : FunctionUrlAuthType.NONE,
      // Lambda answers a preflight by itself. A page has to bring the key: nothing goes with a request by itself.
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
}
