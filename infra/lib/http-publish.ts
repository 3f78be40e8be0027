import { VARIABLES } from '@apus/aws/lambda';
import { type FunctionUrl, FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledgeRule } from './acknowledge.ts';
import { createSecret, type SecretProps } from './authentication.ts';
import { BrokerFunction, calledAs } from './broker-function.ts';
import type { FunctionDefaults } from './functions.ts';
import { grantBroker, type Resources } from './permissions.ts';

/** A bulk of messages that are all posted inline, while the caller waits. */
const TIMEOUT = Duration.seconds(29);

export interface HttpPublishProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly protection: 'iam' | 'keys';
  readonly secretProps: SecretProps;
  /** The tenants for which a caller that signs its requests may publish. @default the default tenant */
  readonly tenants: readonly string[] | undefined;
  readonly reservedConcurrency: number | undefined;
  readonly hasAlias: boolean;
  /**
   * An existing secret with the keys.
   * @default a new one
   */
  readonly keysSecret: ISecret | undefined;
}

/** The HTTP endpoint for backends: a function with a URL, which takes nothing from the quota that frames share. */
export class HttpPublish {
  readonly lambda: BrokerFunction;
  readonly url: FunctionUrl;
  /** The secret with the API keys, if requests carry them. */
  readonly keys: ISecret | Secret | undefined;

  constructor(scope: Construct, props: HttpPublishProps) {
    const { resources, protection, secretProps, tenants, environment } = props;
    const { memorySizeMegabytes, logRetention, logKey, tracing, layers = [], reservedConcurrency } = props;
    this.keys = protection === 'keys' ? (props.keysSecret ?? createKeys(scope, secretProps)) : undefined;
    this.lambda = new BrokerFunction(scope, 'Publish', {
      entry: 'publish',
      description: 'Apus: publishes for backends over HTTPS',
      environment: {
        ...environment,
        ...(this.keys !== undefined && { [VARIABLES.publishKeysSecretArn]: this.keys.secretArn }),
        ...(tenants !== undefined && { [VARIABLES.publishTenants]: tenants.join(',') }),
      },
      timeout: TIMEOUT,
      memorySizeMegabytes,
      logRetention,
      logKey,
      tracing,
      layers,
      hasAlias: props.hasAlias,
      // [SEC-COST-2] Not by default: an account with a concurrency of ten cannot deploy it.
      ...(reservedConcurrency !== undefined && { reservedConcurrency }),
    });
    grantBroker(this.lambda, resources);
    this.keys?.grantRead(this.lambda);
    const authType = protection === 'iam' ? FunctionUrlAuthType.AWS_IAM : FunctionUrlAuthType.NONE;
    this.url = calledAs(this.lambda).addFunctionUrl({ authType });
    if (protection === 'iam') return;
    acknowledgeRule(
      this.lambda,
      'LambdaFunctionPublicAccessProhibited',
      "The owner asked for it (httpPublish: 'keys'): the function asks every request for a key before it reads its body. With 'iam' Lambda itself asks for a signature.",
    );
  }
}

function createKeys(scope: Construct, props: SecretProps): Secret {
  return createSecret(scope, 'PublishKeys', 'Apus: the key of backends that publish over HTTPS', props);
}
