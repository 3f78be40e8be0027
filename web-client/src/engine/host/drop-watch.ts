import type { MqttClient } from 'mqtt';
import type { LogMark, Subscription, UserProperties } from '../types.ts';

/** The user property of CONNACK with which Apus names the topic of its notices. */
const TOPIC_PROPERTY = 'dropped-topic';

const decoder = new TextDecoder();

/** Reads from the broker's notices how many messages it has dropped for this client, if the broker sends any. */
export class DropWatch {
  #topic: string | undefined;
  #client: MqttClient | undefined;

  /** @param said the user properties of CONNACK */
  connected(client: MqttClient, said: UserProperties): void {
    this.#topic = said.find(([name]) => name === TOPIC_PROPERTY)?.[1];
    this.#client = client;
  }

  /** Subscribes to the notices, once for a connection, as soon as messages could be dropped. */
  watch(subscriptions: readonly Subscription[]): void {
    const client = this.#client;
    if (client === undefined || this.#topic === undefined) return;
    if (!subscriptions.some(({ enabled }) => enabled)) return;
    this.#client = undefined;
    // Even if it is refused: without notices less is shown, and nothing is wrong.
    client.subscribe(this.#topic, { qos: 0 }, () => {});
  }

  lost(): void {
    this.#client = undefined;
  }

  /** The contents of a notice; undefined for any other message. */
  read(topic: string, payload: Uint8Array, atMs: number): Extract<LogMark, { kind: 'dropped' }> | undefined {
    if (topic !== this.#topic) return undefined;
    const { dropped, total: _, ...reasons } = membersOf(payload);
    return dropped === undefined ? undefined : { kind: 'dropped', atMs, count: dropped, reasons };
  }
}

function membersOf(payload: Uint8Array): Readonly<Record<string, number>> {
  try {
    const entries = Object.entries(JSON.parse(decoder.decode(payload)) as object);
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'number'));
  } catch {
    return {};
  }
}
