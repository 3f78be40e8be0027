import type { IClientPublishOptions, IConnackPacket, IPublishPacket, MqttClient } from 'mqtt';
import { Holders } from './holders.ts';
import { FIRST_IDENTIFIER } from './limits.ts';
import { Message } from './message.ts';
import { Presences } from './presences.ts';
import { Shown } from './shown.ts';
import { type SubscribeOptions, Subscription, type Wanted } from './subscription.ts';

/** Makes the connection: `mqtt.connect`, `connect` of @apus/client, or either within `resume`. */
export type Connect = () => MqttClient;

export interface Connection {
  /** `idle` while no component needs it. */
  readonly state: 'idle' | 'connecting' | 'connected' | 'reconnecting';
  /** The last error of the client, until it connects. */
  readonly error: Error | undefined;
}

export const NO_CONNECTION: Connection = { state: 'idle', error: undefined };

/** Text, bytes, or a value that is sent as JSON. */
export type Payload = string | Uint8Array | object | number | boolean | null;

export interface PublishOptions {
  /** @default 1 */
  readonly qos?: 0 | 1 | 2;
  /** @default false */
  readonly retain?: boolean;
  readonly properties?: IClientPublishOptions['properties'];
}

/**
 * One connection for all components below a provider. It opens with the first component that needs it and ends with the
 * last. It subscribes by itself on each connection, so mqtt.js has nothing to repeat.
 */
export class SharedClient {
  readonly connection: Shown<Connection>;
  readonly #connect: Connect;
  readonly #presences: Presences;
  readonly #holders: Holders;
  readonly #byFilter = new Map<string, Subscription>();
  readonly #byIdentifier = new Map<number, Subscription>();
  /** Filters whose UNSUBSCRIBE waits for a connection. */
  readonly #ended = new Set<string>();
  #client: MqttClient | undefined;
  #identifier = FIRST_IDENTIFIER;
  #error: Error | undefined;
  #hasConnected = false;

  constructor(connect: Connect) {
    this.#connect = connect;
    this.#holders = new Holders(() => this.#end());
    this.connection = new Shown(() => this.#view());
    this.#presences = new Presences(this);
  }

  /**
   * Opens the connection if there is none.
   * @returns a function that lets go
   */
  hold(): () => void {
    const release = this.#holders.hold();
    if (this.#client === undefined) this.#open();
    return release;
  }

  /**
   * Subscribes if no component has done so.
   * @returns a function that lets go
   * @throws Error if another component has subscribed to the filter with other options
   */
  acquire(topicFilter: string, options: SubscribeOptions, wanted: Wanted): () => void {
    const subscription = this.#subscriptionTo(topicFilter, options);
    subscription.want(wanted);
    const release = this.hold();
    const releaseFilter = subscription.holders.hold();
    return () => {
      releaseFilter();
      release();
    };
  }

  /**
   * Makes a member present until the last component has let go.
   * @param topic `$presence/ROOM/MEMBER`
   * @param told is called with the reason if the broker refuses it, and with undefined if it does not
   */
  enter(topic: string, payload: string, told: (error: Error | undefined) => void): () => void {
    const release = this.hold();
    const leave = this.#presences.enter(topic, payload, told);
    return () => {
      // The member is removed first, over the connection that it holds open.
      leave();
      release();
    };
  }

  subscription(topicFilter: string): Subscription | undefined {
    return this.#byFilter.get(topicFilter);
  }

  /**
   * Publishes a message. Resolves when the broker has accepted it. The connection stays until then, even if the
   * component has gone.
   * @throws ErrorWithReasonCode of mqtt.js if the broker refuses it
   */
  async publish(topic: string, payload: Payload, options: PublishOptions = {}): Promise<void> {
    const release = this.hold();
    try {
      const { qos = 1, retain = false, properties } = options;
      await this.#client?.publishAsync(topic, bytesOf(payload), {
        qos,
        retain,
        ...(properties && { properties }),
      });
    } finally {
      release();
    }
  }

  /**
   * The connection stands, but may have missed messages: subscribes to the rooms again, whose lists of members may be
   * outdated.
   */
  refreshPresence(): void {
    const client = this.#client;
    if (client?.connected !== true) return;
    for (const each of this.#byFilter.values())
      if (each.topicFilter.startsWith('$presence/')) each.ask(client);
  }

  get isConnected(): boolean {
    return this.#client?.connected === true;
  }

  #open(): void {
    const client = this.#connect();
    if (client.options.protocolVersion !== 5) {
      client.end(true);
      throw new Error('@apus/react needs MQTT 5: connect with protocolVersion: 5.');
    }
    this.#client = client;
    this.#hasConnected = false;
    this.#error = undefined;
    client.options.resubscribe = false;
    client.on('connect', this.#connected);
    client.on('close', this.#closed);
    client.on('error', this.#failed);
    client.on('message', this.#message);
    this.connection.touch();
  }

  #end(): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#client = undefined;
    client.off('connect', this.#connected);
    client.off('close', this.#closed);
    client.off('message', this.#message);
    // mqtt.js throws an error that has no listener, so `#failed` stays.
    client.end();
    this.connection.touch();
  }

  #connected = ({ sessionPresent }: IConnackPacket): void => {
    const client = this.#client;
    if (client === undefined) return;
    this.#hasConnected = true;
    this.#error = undefined;
    this.connection.touch();
    const ended = [...this.#ended].filter((filter) => !this.#byFilter.has(filter));
    this.#ended.clear();
    if (sessionPresent && ended.length > 0) client.unsubscribe(ended, () => {});
    for (const subscription of this.#byFilter.values()) subscription.ask(client);
    this.#presences.connected();
  };

  #closed = (): void => {
    this.connection.touch();
    for (const subscription of this.#byFilter.values()) subscription.lost();
  };

  #failed = (error: Error): void => {
    this.#error = error;
    this.connection.touch();
  };

  #message = (_topic: string, _payload: Uint8Array, packet: IPublishPacket): void => {
    const message = new Message(packet, Date.now());
    for (const identifier of [packet.properties?.subscriptionIdentifier ?? []].flat())
      this.#byIdentifier.get(identifier)?.take(message);
  };

  #subscriptionTo(topicFilter: string, options: SubscribeOptions): Subscription {
    const known = this.#byFilter.get(topicFilter);
    if (known !== undefined && isSame(known.options, options)) return known;
    if (known?.holders.isHeld)
      throw new Error(`Another component subscribes ${topicFilter} with other options: give both the same.`);
    if (known !== undefined) this.#unsubscribe(known);
    this.#identifier += 1;
    const subscription = new Subscription(topicFilter, this.#identifier, options, () =>
      this.#unsubscribe(subscription),
    );
    this.#byFilter.set(topicFilter, subscription);
    this.#byIdentifier.set(subscription.identifier, subscription);
    if (this.#client?.connected) subscription.ask(this.#client);
    return subscription;
  }

  #unsubscribe(subscription: Subscription): void {
    const { topicFilter, identifier } = subscription;
    if (this.#byIdentifier.get(identifier) !== subscription) return;
    this.#byIdentifier.delete(identifier);
    this.#byFilter.delete(topicFilter);
    subscription.shown.stop();
    if (this.#client?.connected) this.#client.unsubscribe(topicFilter, () => {});
    else this.#ended.add(topicFilter);
  }

  #view(): Connection {
    const client = this.#client;
    if (client === undefined) return { state: 'idle', error: this.#error };
    const trying = this.#hasConnected ? 'reconnecting' : 'connecting';
    return { state: client.connected ? 'connected' : trying, error: this.#error };
  }
}

function isSame(left: SubscribeOptions, right: SubscribeOptions): boolean {
  const names = Object.keys({ ...left, ...right }) as (keyof SubscribeOptions)[];
  return names.every((name) => left[name] === right[name]);
}

function bytesOf(payload: Payload): string | Buffer {
  if (typeof payload === 'string') return payload;
  return payload instanceof Uint8Array ? (payload as Buffer) : JSON.stringify(payload);
}
