import { randomBytes } from 'node:crypto';
import { connect as connectInTextFrames } from '@apus/client';
import mqtt, { type IClientOptions, type IConnackPacket, type IPublishPacket, type MqttClient } from 'mqtt';
import { onTestFinished } from 'vitest';
import { deployed } from './deployed.ts';
import { tokenFor } from './token.ts';

/** A message that a client has received. */
export interface Received {
  readonly topic: string;
  readonly text: string;
  readonly packet: IPublishPacket;
}

/** Stock mqtt.js over the transport, with the messages that it has received. */
export class TestClient {
  readonly mqtt: MqttClient;
  readonly connack: IConnackPacket;
  readonly received: Received[];
  readonly #arrived: Arrivals;

  constructor(client: MqttClient, connack: IConnackPacket, arrivals: Arrivals) {
    this.mqtt = client;
    this.connack = connack;
    this.received = arrivals.received;
    this.#arrived = arrivals;
  }

  /** Resolves with all messages once there are `count`. Only the test's timeout ends the wait otherwise. */
  messages(count: number): Promise<readonly Received[]> {
    return this.#arrived.atLeast(count);
  }

  async texts(count: number): Promise<readonly string[]> {
    return (await this.messages(count)).map(({ text }) => text);
  }

  /** Sends DISCONNECT and closes. */
  async end(): Promise<void> {
    await this.mqtt.endAsync();
  }

  /** The connection is lost without a DISCONNECT, and the client does not return. */
  cut(): void {
    this.mqtt.options.reconnectPeriod = 0;
    this.mqtt.stream.destroy();
  }
}

/** Collects messages from before CONNACK on: a session's queue follows CONNACK at once. */
class Arrivals {
  readonly received: Received[] = [];
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(client: MqttClient) {
    client.on('message', (topic, payload, packet) => {
      this.received.push({ topic, text: payload.toString(), packet });
      for (const { count, resolve } of this.#waiting) if (this.received.length >= count) resolve();
    });
  }

  async atLeast(count: number): Promise<readonly Received[]> {
    if (this.received.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
    }
    return this.received;
  }
}

export interface ClientOptions extends IClientOptions {
  /** @default a token that may do everything */
  readonly token?: string;
}

/** The name in the token of a client. The client may keep sessions under identifiers that begin with it. */
export const USER = 'tester';

/** A connected client, which is disconnected at the end of its test. MQTT 5 by default. */
export async function connectClient(options: ClientOptions = {}): Promise<TestClient> {
  const { token = await tokenFor(USER), ...mqttOptions } = options;
  const client = connectInTextFrames(
    mqtt,
    deployed.url,
    { protocolVersion: 5, clientId: unique(USER), connectTimeout: 20_000, ...mqttOptions },
    { token: () => token },
  );
  onTestFinished(() => client.endAsync(true).then(() => {}));
  const arrivals = new Arrivals(client);
  const connack = await new Promise<IConnackPacket>((resolve, reject) => {
    client.once('connect', resolve);
    client.once('error', reject);
  });
  return new TestClient(client, connack, arrivals);
}

/** A unique name. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}
