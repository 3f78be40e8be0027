import { setTimeout as delay } from 'node:timers/promises';
import * as mqtt from 'mqtt';

/** Concurrent publishes without an acknowledgement: fast, and within the broker's window. */
const OUTSTANDING_MAX = 100;

/** If no retained message comes for this long, there are no more. */
const QUIET_MS = 2_000;

/** mqtt.js, which shows the broker's real messages. */
export class StockClient {
  readonly #client: mqtt.MqttClient;

  private constructor(client: mqtt.MqttClient) {
    this.#client = client;
  }

  static async connect(url: string): Promise<StockClient> {
    return new StockClient(await mqtt.connectAsync(url, { protocolVersion: 5 }));
  }

  /** Resolves when the broker has acknowledged all. */
  async publish(
    topics: readonly string[],
    payloadOf: (topic: string) => string,
    retain: boolean,
  ): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < topics.length) {
        const topic = topics[next] ?? '';
        next += 1;
        await this.#client.publishAsync(topic, payloadOf(topic), { qos: 1, retain });
      }
    };
    await Promise.all(Array.from({ length: OUTSTANDING_MAX }, work));
  }

  /** Subscribes anew, and counts the retained messages that come by their topics. */
  async retained(filter: string): Promise<string[]> {
    const topics: string[] = [];
    let lastAtMs = performance.now();
    const take = (topic: string, _payload: Buffer, { retain }: mqtt.IPublishPacket): void => {
      if (!retain) return;
      topics.push(topic);
      lastAtMs = performance.now();
    };
    this.#client.on('message', take);
    await this.#client.subscribeAsync(filter, { qos: 1 });
    while (performance.now() - lastAtMs < QUIET_MS) await delay(100);
    await this.#client.unsubscribeAsync(filter);
    this.#client.off('message', take);
    return topics;
  }

  async end(): Promise<void> {
    await this.#client.endAsync();
  }
}
