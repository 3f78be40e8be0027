import { connect as connectText, createTransport, type Statistics } from '@apus/client';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { WebSocket } from 'ws';
import type { EngineConfig } from './config.ts';

export interface ClientFields {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly sessionExpirySeconds: number;
}

export interface OpenedClient {
  readonly client: MqttClient;
  /** The counts of text frames. */
  readonly statistics: Readonly<Statistics> | undefined;
}

/** A client of mqtt.js, over its own WebSocket or over text frames. */
export function openClient(config: EngineConfig, fields: ClientFields): OpenedClient {
  const options = optionsOf(config, fields);
  if (config.frames === 'binary') return { client: mqtt.connect(config.url, options), statistics: undefined };
  const { token } = config;
  const transport = createTransport({ WebSocket, ...(token !== undefined && { token: () => token }) });
  const client = connectText(mqtt, config.url, options, transport);
  return { client, statistics: transport.statistics };
}

function optionsOf(config: EngineConfig, fields: ClientFields): IClientOptions {
  const isFive = config.version === '5';
  return {
    protocolVersion: isFive ? 5 : 4,
    clientId: fields.clientId,
    clean: fields.cleanStart,
    keepalive: fields.keepAliveSeconds,
    reconnectPeriod: config.reconnectMs,
    connectTimeout: config.timeoutSeconds * 1_000,
    // Each message is stamped and counted once, when it is sent: mqtt.js must not keep one for later.
    queueQoSZero: false,
    resubscribe: config.reconnectMs > 0,
    ...(fields.username !== undefined && { username: fields.username }),
    ...(fields.password !== undefined && { password: fields.password }),
    ...(isFive &&
      fields.sessionExpirySeconds > 0 && {
        properties: { sessionExpiryInterval: fields.sessionExpirySeconds },
      }),
  };
}
