import { DEFAULT_LIMITS } from '@apus/broker';
import {
  authorizationOf,
  BRIDGE_METRICS,
  createRuntime,
  limitsOf,
  METRICS,
  required,
  withMetrics,
} from '@apus/cloud/lambda';
import { createIotCoreHandler } from './iot-core-handler.ts';
import { readIotCoreSources } from './iot-core-source.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, log, metrics } = runtime;
const { topicLevelsMax = DEFAULT_LIMITS.topicLevelsMax } = limitsOf(process.env);

/** Messages of AWS IoT Core, from their queue. */
export const handler = withMetrics(
  runtime,
  createIotCoreHandler({
    environment: cloud.environment,
    sources: readIotCoreSources(
      JSON.parse(required(process.env, BRIDGE_VARIABLES.iotCore)),
      BRIDGE_VARIABLES.iotCore,
    ),
    topicLevelsMax,
    log,
    published: (messages) => metrics.add(METRICS.messagesIn, messages),
    skipped: () => metrics.add(BRIDGE_METRICS.iotCoreMessagesSkipped),
  }),
);
