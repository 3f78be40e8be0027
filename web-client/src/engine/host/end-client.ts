import type { MqttClient } from 'mqtt';
import type { Later } from './batcher.ts';

/** If the clean end takes longer than this, the socket is closed. */
const END_TIMEOUT_MS = 3_000;

/** 0x04: the server publishes the will nevertheless (3.14.2.1). */
const DISCONNECT_WITH_WILL = 0x04;

/** Disconnects as cleanly as possible. MQTT 3.1.1 cannot ask for its will: there the connection is cut. */
export function endClient(
  client: MqttClient,
  withWill: boolean,
  protocolVersion: number,
  later: Later,
): void {
  if (!client.connected || (withWill && protocolVersion !== 5)) {
    client.end(true);
    return;
  }
  const cancel = later(() => client.stream.destroy(), END_TIMEOUT_MS);
  client.end(false, withWill ? { reasonCode: DISCONNECT_WITH_WILL } : {}, () => cancel());
}
