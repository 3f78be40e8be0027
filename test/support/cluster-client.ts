import * as mqtt from 'mqtt';
import { onTestFinished } from 'vitest';

/** A client that records the messages that it receives, in order. */
export class ClusterClient {
  readonly client: mqtt.MqttClient;
  readonly received: {
    readonly topic: string;
    readonly text: string;
    readonly packet: mqtt.IPublishPacket;
  }[] = [];
  readonly #waiting: (() => void)[] = [];

  private constructor(client: mqtt.MqttClient) {
    this.client = client;
    client.on('message', (topic, payload, packet) => {
      this.received.push({ topic, text: payload.toString(), packet });
      for (const look of this.#waiting) look();
    });
    client.on('error', () => {});
  }

  static async connect(url: string, options: mqtt.IClientOptions = {}): Promise<ClusterClient> {
    const client = mqtt.connect(url, { protocolVersion: 5, reconnectPeriod: 0, ...options });
    const made = new ClusterClient(client);
    onTestFinished(() => {
      client.end(true);
    });
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.once('error', reject);
    });
    return made;
  }

  get texts(): string[] {
    return this.received.map(({ text }) => text);
  }

  /** Waits until the client has received this many messages. */
  async got(count: number): Promise<string[]> {
    await new Promise<void>((resolve) => {
      const look = () => {
        if (this.received.length >= count) resolve();
      };
      this.#waiting.push(look);
      look();
    });
    return this.texts;
  }
}
