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
import { createKafkaHandler } from './kafka-handler.ts';
import { readKafkaMappings } from './kafka-source.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, log, metrics, sleep } = runtime;
const { topicLevelsMax = DEFAULT_LIMITS.topicLevelsMax } = limitsOf(process.env);

/** Records of Kafka. */
export const handler = withMetrics(
  runtime,
  createKafkaHandler({
    environment: cloud.environment,
    mappings: readKafkaMappings(required(process.env, BRIDGE_VARIABLES.kafka), BRIDGE_VARIABLES.kafka),
    topicLevelsMax,
    sleep,
    log,
    published: (messages) => metrics.add(METRICS.messagesIn, messages),
    skipped: () => metrics.add(BRIDGE_METRICS.kafkaRecordsSkipped),
  }),
);
