import { Holders } from './holders.ts';

interface Presence {
  readonly topic: string;
  readonly holders: Holders;
  /** The components that make the member present; they are told of a refusal. */
  readonly listeners: Set<(error: Error | undefined) => void>;
  payload: string;
}

/** How a member is published. */
interface Publisher {
  readonly isConnected: boolean;
  publish(topic: string, payload: string): Promise<void>;
}

/**
 * The members that this page makes present. Each is published on every connection: the broker removes a member if its
 * client is lost for longer than the grace period.
 */
export class Presences {
  readonly #publisher: Publisher;
  readonly #byTopic = new Map<string, Presence>();

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  enter(topic: string, payload: string, told: (error: Error | undefined) => void): () => void {
    const presence = this.#byTopic.get(topic) ?? this.#added(topic);
    const release = presence.holders.hold();
    presence.listeners.add(told);
    if (presence.payload !== payload) {
      presence.payload = payload;
      this.#send(presence);
    }
    return () => {
      presence.listeners.delete(told);
      release();
    };
  }

  connected(): void {
    for (const presence of this.#byTopic.values()) this.#send(presence);
  }

  #added(topic: string): Presence {
    const presence: Presence = {
      topic,
      holders: new Holders(() => this.#leave(topic)),
      listeners: new Set(),
      payload: '',
    };
    this.#byTopic.set(topic, presence);
    return presence;
  }

  /** The broker removes the members of a connection that has ended. */
  #leave(topic: string): void {
    this.#byTopic.delete(topic);
    if (this.#publisher.isConnected) this.#publisher.publish(topic, '').catch(() => {});
  }

  /** Without a connection, the next one publishes the member. */
  #send({ topic, payload, listeners }: Presence): void {
    if (!this.#publisher.isConnected) return;
    const tell = (error: Error | undefined) => {
      for (const told of [...listeners]) told(error);
    };
    this.#publisher.publish(topic, payload).then(() => tell(undefined), tell);
  }
}
