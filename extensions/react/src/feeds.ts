import type { Message } from './message.ts';

/** Messages that a subscription keeps for the hooks that use it. */
export interface Feeds {
  /** The last messages, the oldest first. */
  readonly messages: readonly Message[];
  /** The last message of each topic. */
  readonly byTopic: ReadonlyMap<string, Message>;
}

export const NO_FEEDS: Feeds = { messages: [], byTopic: new Map() };

/** The last messages: as many as the hook with the highest limit keeps. */
export class Log {
  #messages: Message[] = [];

  take(message: Message, limit: number): void {
    this.#messages.push(message);
    // The list is copied seldom, and not for each message.
    if (this.#messages.length > 2 * limit) this.#messages = this.#messages.slice(-limit);
  }

  last(limit: number): readonly Message[] {
    return this.#messages.slice(-limit);
  }
}

/** The last message of each topic. An empty payload removes the topic, as it removes a retained message. */
export class Latest {
  readonly #byTopic = new Map<string, Message>();

  take(message: Message, limit: number): void {
    this.#byTopic.delete(message.topic);
    if (message.payload.length === 0) return;
    this.#byTopic.set(message.topic, message);
    if (this.#byTopic.size <= limit) return;
    const [oldest = ''] = this.#byTopic.keys();
    this.#byTopic.delete(oldest);
  }

  clear(): void {
    this.#byTopic.clear();
  }

  copy(): ReadonlyMap<string, Message> {
    return new Map(this.#byTopic);
  }
}
