import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { WebSocket } from 'ws';
import type { Target } from './raw-client.ts';

/** Between two messages of one client. */
const INTERVAL_MS = 200;

/** Counts of one client since the last report. */
export interface Seen {
  readonly latenciesMs: readonly number[];
  readonly lost: number;
  readonly doubled: number;
  readonly cuts: number;
}

/** Publishes at QoS 1 to a topic to which it subscribes, and counts the messages that come back. */
export class HonestClient {
  readonly #client: mqtt.MqttClient;
  readonly #awaited = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;
  #next = 0;
  #latenciesMs: number[] = [];
  #doubled = 0;
  #cuts = 0;

  static async start(target: Target, user: string, clientId: string): Promise<HonestClient> {
    const client = connectTo(target, {
      protocolVersion: 5,
      clientId,
      username: user,
      password: user,
      clean: false,
      properties: { sessionExpiryInterval: 600 },
      reconnectPeriod: 500,
    });
    client.on('error', () => {});
    await new Promise<void>((resolve) => client.once('connect', () => resolve()));
    const topic = `honest/${user}/${clientId}`;
    await client.subscribeAsync(topic, { qos: 1 });
    return new HonestClient(client, topic);
  }

  private constructor(client: mqtt.MqttClient, topic: string) {
    this.#client = client;
    client.on('message', (_, payload) => this.#received(Number(payload.toString())));
    client.on('close', () => {
      this.#cuts += 1;
    });
    this.#timer = setInterval(() => {
      this.#awaited.set(this.#next, performance.now());
      client.publish(topic, String(this.#next), { qos: 1 });
      this.#next += 1;
    }, INTERVAL_MS);
  }

  /** The counts since the last call. `lost` is known only when nothing is in flight any more. */
  take(): Seen {
    const seen = { latenciesMs: this.#latenciesMs, lost: 0, doubled: this.#doubled, cuts: this.#cuts };
    this.#latenciesMs = [];
    return seen;
  }

  /** Stops publishing. Messages that have not arrived after this time are lost. */
  async finish(withinMs: number): Promise<Seen> {
    clearInterval(this.#timer);
    const endMs = performance.now() + withinMs;
    while (this.#awaited.size > 0 && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    const seen = { ...this.take(), lost: this.#awaited.size };
    await this.#client.endAsync(true);
    return seen;
  }

  #received(index: number): void {
    const sentMs = this.#awaited.get(index);
    if (sentMs === undefined) {
      this.#doubled += 1;
      return;
    }
    this.#awaited.delete(index);
    this.#latenciesMs.push(performance.now() - sentMs);
  }
}

function connectTo({ door, url }: Target, options: mqtt.IClientOptions): mqtt.MqttClient {
  if (door === 'node') return mqtt.connect(url, options);
  return connectInTextFrames(mqtt, url, options, { WebSocket: WebSocket as never, page: {} });
}
