import { BRIDGE_METRICS, required } from '@apus/aws/lambda';
import { createInboundEntry } from './inbound.ts';
import { createKafkaHandler } from './kafka-handler.ts';
import { readKafkaMappings } from './kafka-source.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const { kafka } = BRIDGE_VARIABLES;

export const handler = createInboundEntry(BRIDGE_METRICS.kafkaRecordsSkipped, (inbound) => {
  const mappings = readKafkaMappings(required(process.env, kafka), kafka);
  return createKafkaHandler({ ...inbound, mappings });
});
