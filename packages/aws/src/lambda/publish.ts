import { KnownTenants } from '@apus/identity';
import { METRICS } from '../metrics/metric-names.ts';
import { createPublishFunction } from '../publish/create-publish-function.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { secretReader } from './secret.ts';
import { publishTenantsOf } from './settings.ts';
import { VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, clock, metrics, options } = runtime;
const { topicLevelsMax } = options.limits ?? {};
const secretId = process.env[VARIABLES.publishKeysSecretArn];
const readSecret = secretReader();

/** Publishes for backends. With a secret of keys requests carry one; without, Lambda has checked their signature. */
export const handler = withMetrics(
  runtime,
  createPublishFunction({
    environment: cloud.environment,
    clock,
    streams: cloud.streams,
    presence: cloud.presence,
    readKeys: secretId === undefined ? undefined : () => readSecret(secretId),
    tenants: publishTenantsOf(process.env),
    plans: new KnownTenants({ read: (name) => cloud.stores.tenants.get(name), clock, log: runtime.log }),
    ...(topicLevelsMax !== undefined && { topicLevelsMax }),
    count: (messages) => metrics.add(METRICS.messagesIn, messages),
    countRefused: () => metrics.add(METRICS.publishesRefused, 1),
  }),
);
