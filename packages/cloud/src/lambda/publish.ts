import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createPublishFunction } from '../publish/create-publish-function.ts';
import { authorizationOf } from './authentication.ts';
import { METRICS } from './metric-names.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { limitsOf } from './settings.ts';
import { VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf(process.env));
const { cloud, clock, metrics } = runtime;
const { topicLevelsMax } = limitsOf(process.env);
const secretId = process.env[VARIABLES.publishKeysSecretArn];

/** Publishes for backends. With a secret of keys requests carry one; without, Lambda has checked their signature. */
export const handler = withMetrics(
  runtime,
  createPublishFunction({
    environment: cloud.environment,
    clock,
    readKeys: secretId === undefined ? undefined : keyReader(secretId),
    ...(topicLevelsMax !== undefined && { topicLevelsMax }),
    count: (messages) => metrics.add(METRICS.messagesIn, messages),
  }),
);

function keyReader(id: string): () => Promise<string> {
  const client = new SecretsManagerClient({});
  return async () => {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  };
}
