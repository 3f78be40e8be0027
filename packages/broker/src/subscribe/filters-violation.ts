import { type SubackPacket, type UnsubackPacket, type Violation, validateTopicFilter } from '@apus/mqtt';
import type { Connection } from '../model/link.ts';
import { tooLarge } from '../reply.ts';

/**
 * Why a SUBSCRIBE or UNSUBSCRIBE with these filters ends the connection before any of them is looked at: its answer
 * does not fit, or the client speaks MQTT 3.1.1, which has no reason code for a filter that is none. There it closes the
 * connection [MQTT3-4.7.1-2] [MQTT3-4.7.1-3] [MQTT3-4.7.3-1] [MQTT3-4.8.0-1].
 */
export function filtersViolation(
  connection: Connection,
  type: (SubackPacket | UnsubackPacket)['type'],
  packetId: number,
  topicFilters: readonly string[],
): Violation | undefined {
  if (connection.protocolVersion === 5)
    return tooLarge({ type, packetId, reasonCodes: topicFilters.map(() => 0), properties: {} }, connection);
  for (const topicFilter of topicFilters) {
    const invalid = validateTopicFilter(topicFilter);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}
