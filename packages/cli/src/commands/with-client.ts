import type { IClientOptions, MqttClient } from 'mqtt';
import { connectClient } from './connect-client.ts';
import { ConnectionWatch } from './connection-watch.ts';
import type { Values } from './flags.ts';

/** The part of a command that is a client. */
export interface ClientWork {
  readonly options?: IClientOptions;
  /** Gets the client before it is connected: the messages of a kept session follow CONNACK at once. */
  readonly prepare?: (client: MqttClient) => void;
  /** The work goes on over another connection. */
  readonly mayReconnect: boolean;
  run(client: MqttClient): Promise<void>;
}

/**
 * Connects as the flags say, does the work, and disconnects.
 *
 * @throws {CommandError} if the broker cannot be reached, refuses the client, or ends its connection
 */
export async function withClient(values: Values, work: ClientWork): Promise<void> {
  const { options = {}, prepare = () => {}, mayReconnect } = work;
  const watch = new ConnectionWatch(mayReconnect);
  const client = await connectClient(values, options, watch, prepare);
  try {
    await Promise.race([work.run(client), watch.failed]);
    await Promise.race([end(client, watch), watch.failed]);
  } catch (error) {
    void end(client, watch);
    throw error;
  }
}

async function end(client: MqttClient, watch: ConnectionWatch): Promise<void> {
  watch.isEnding = true;
  // mqtt.js would wait for these answers before it sends DISCONNECT.
  for (const packetId of Object.keys(client.outgoing)) client.removeOutgoingMessage(Number(packetId));
  await client.endAsync(!client.connected);
}
