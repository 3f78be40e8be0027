import type { IClientSubscribeOptions, MqttClient, Packet } from 'mqtt';
import { type Feeds, Latest, Log, NO_FEEDS } from './feeds.ts';
import { Holders } from './holders.ts';
import type { Message, UserProperties } from './message.ts';
import { Shown } from './shown.ts';

type Suback = Extract<Packet, { cmd: 'suback' }>;

/** The options of a subscription. Components that share a filter must use the same. */
export interface SubscribeOptions {
  /** @default 1 */
  readonly qos?: 0 | 1 | 2;
  /**
   * No Local: the connection does not get the messages that it publishes itself.
   * @default false
   */
  readonly noLocal?: boolean;
  /**
   * A reader of a stream begins with this many messages of each topic (`50`), or with those of a period (`10s`, `5m`,
   * `2h`, `1d`).
   */
  readonly rewind?: string;
  /** A reader of a stream begins at `earliest`, `latest`, or a time. */
  readonly streamOffset?: string;
  /** The broker sends at most one message of each topic in this many milliseconds. Needs `qos: 0`. */
  readonly conflateMs?: number;
  /** The broker sends only messages that fit this condition in CEL, as `payload.t > 80`. */
  readonly where?: string;
}

/** The feeds that a hook reads, and how much of each it keeps. */
export interface Wanted {
  readonly messagesMax?: number;
  readonly topicsMax?: number;
}

export interface SubscriptionView extends Feeds {
  /** SUBACK has granted the filter on the present connection. */
  readonly isSubscribed: boolean;
  /** Why the broker refuses the filter. The next connection subscribes again. */
  readonly error: Error | undefined;
}

export const NO_SUBSCRIPTION: SubscriptionView = { ...NO_FEEDS, isSubscribed: false, error: undefined };

/** One filter, shared by all components that name it. */
export class Subscription {
  readonly topicFilter: string;
  readonly identifier: number;
  readonly options: SubscribeOptions;
  readonly holders: Holders;
  readonly shown: Shown<SubscriptionView>;
  #messagesMax = 0;
  #topicsMax = 0;
  #log: Log | undefined;
  #latest: Latest | undefined;
  #state: 'idle' | 'asked' | 'granted' | 'refused' = 'idle';
  #error: Error | undefined;

  constructor(topicFilter: string, identifier: number, options: SubscribeOptions, end: () => void) {
    this.topicFilter = topicFilter;
    this.identifier = identifier;
    this.options = options;
    this.holders = new Holders(end);
    this.shown = new Shown(() => this.#view());
  }

  get isGranted(): boolean {
    return this.#state === 'granted';
  }

  want({ messagesMax, topicsMax }: Wanted): void {
    if (messagesMax !== undefined) {
      this.#log ??= new Log();
      this.#messagesMax = Math.max(this.#messagesMax, messagesMax);
    }
    if (topicsMax !== undefined) {
      this.#latest ??= new Latest();
      this.#topicsMax = Math.max(this.#topicsMax, topicsMax);
    }
  }

  take(message: Message): void {
    this.#log?.take(message, this.#messagesMax);
    this.#latest?.take(message, this.#topicsMax);
    // Components show the former members until the new list has begun.
    if (this.#state !== 'asked') this.shown.touch();
  }

  /** Sends SUBSCRIBE over the open connection. */
  ask(client: MqttClient): void {
    this.#state = 'asked';
    // The broker sends the members of a room anew, without those that have gone meanwhile.
    if (this.topicFilter.startsWith('$presence/')) this.#latest?.clear();
    client.subscribe(this.topicFilter, this.#packetOptions(), (error, _granted, suback) => {
      // Without SUBACK the connection was lost: the next one subscribes again.
      if (suback !== undefined) this.#answered(error, suback);
    });
  }

  /** The connection is lost. */
  lost(): void {
    if (this.#state !== 'refused') this.#state = 'idle';
    this.shown.touch();
  }

  #answered(error: Error | null, suback: Packet): void {
    this.#error = error === null ? undefined : new Error(refusal(this.topicFilter, error, suback as Suback));
    this.#state = error === null ? 'granted' : 'refused';
    this.shown.touch();
  }

  #packetOptions(): IClientSubscribeOptions {
    const { qos = 1, noLocal = false } = this.options;
    const userProperties = userPropertiesOf(this.options);
    return {
      qos,
      nl: noLocal,
      properties: {
        subscriptionIdentifier: this.identifier,
        // mqtt-packet cannot write an empty list.
        ...(Object.keys(userProperties).length > 0 && { userProperties }),
      },
    } as IClientSubscribeOptions;
  }

  #view(): SubscriptionView {
    return {
      messages: this.#log?.last(this.#messagesMax) ?? NO_FEEDS.messages,
      byTopic: this.#latest?.copy() ?? NO_FEEDS.byTopic,
      isSubscribed: this.isGranted,
      error: this.#error,
    };
  }
}

function userPropertiesOf({ rewind, streamOffset, conflateMs, where }: SubscribeOptions): UserProperties {
  return {
    ...(rewind !== undefined && { rewind }),
    ...(streamOffset !== undefined && { 'stream-offset': streamOffset }),
    ...(conflateMs !== undefined && { 'conflate-ms': String(conflateMs) }),
    ...(where !== undefined && { where }),
  };
}

function refusal(topicFilter: string, { message }: Error, { properties }: Suback): string {
  return `${topicFilter}: ${properties?.reasonString ?? message}`;
}
