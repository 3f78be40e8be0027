import { BRIDGE_METRICS, required } from '@apus/aws/lambda';
import { createInboundEntry } from './inbound.ts';
import { createIotCoreHandler } from './iot-core-handler.ts';
import { readIotCoreSources } from './iot-core-source.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const { iotCore } = BRIDGE_VARIABLES;

/** Messages of AWS IoT Core, from their queue. */
export const handler = createInboundEntry(BRIDGE_METRICS.iotCoreMessagesSkipped, (inbound) => {
  const sources = readIotCoreSources(JSON.parse(required(process.env, iotCore)), iotCore);
  return createIotCoreHandler({ ...inbound, sources });
});
