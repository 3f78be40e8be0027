import { AccessLogFormat, CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ILogGroup, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { AccessLogProps } from './props.ts';

/** The log contains no URL with a query, since the query contains the token. */
const FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    time: '$context.requestTime',
    connection: '$context.connectionId',
    event: '$context.eventType',
    route: '$context.routeKey',
    status: '$context.status',
    error: '$context.error.messageString',
    integrationStatus: '$context.integration.status',
    integrationLatency: '$context.integrationLatency',
    address: '$context.identity.sourceIp',
    disconnect: '$context.disconnectReason',
    request: '$context.extendedRequestId',
  }),
);

export interface AccessLogs {
  readonly logGroup: ILogGroup;
  readonly format: AccessLogFormat;
}

export function createAccessLogs(scope: Construct, props: AccessLogProps, key: IKey | undefined): AccessLogs {
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    retention: props.retention ?? RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(key !== undefined && { encryptionKey: key }),
  });
  if (props.setAccountRole ?? true) setAccountRole(scope);
  return { logGroup, format: FORMAT };
}

/** Kept when the stack is deleted: by then other APIs of the account may use it for their logs. */
function setAccountRole(scope: Construct): void {
  const role = new Role(scope, 'AccessLogRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [
      ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
    ],
  });
  acknowledge(
    role,
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    "API Gateway's role for logs is one for all APIs of an account; this policy of AWS's is made for it.",
  );
  const account = new CfnAccount(scope, 'AccessLogAccount', { cloudWatchRoleArn: role.roleArn });
  role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  account.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
}
