import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * A topic that alarms of this account may notify, over TLS. Its own policy replaces the default one, which allowed
 * them.
 */
export function createTopic(scope: Construct, id: string, displayName: string, key: IKey | undefined): Topic {
  const topic = new Topic(scope, id, {
    displayName,
    enforceSSL: true,
    ...(key !== undefined && { masterKey: key }),
  });
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
}
