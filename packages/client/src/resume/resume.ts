import type { ISubscriptionMap, MqttClient, Packet } from 'mqtt';
import { Alarm, systemTimers, type Timers } from '../environment.ts';
import { positionsOf, type UserProperties } from './position.ts';
import { isReading, plainFilter, Reading } from './reading.ts';
import type { Arrival } from './sequence.ts';

/** Messages of a stream may be missing. */
export interface StreamGap {
  /** The filter as the program gave it. */
  readonly topicFilter: string;
  /**
   * The reason code of the SUBACK that refused to go on: no more messages come. Undefined: the subscription goes on.
   */
  readonly refusedWith: number | undefined;
}

export interface ResumeOptions {
  /**
   * Called if messages of a stream may be missing: SUBACK said `stream-recovered: false`. It is called before the
   * messages that replace them: the last value, or the last value of each key (`stream-kind: snapshot`).
   */
  readonly onGap?: (gap: StreamGap) => void;
  /** For tests. */
  readonly timers?: Timers;
}

/**
 * How long a message waits for an earlier one that is missing, in milliseconds; then the helper asks for it. Most come
 * within a hundredth of a second, and asking costs a frame.
 */
const ORDER_WAIT_MS = 500;

const QUOTA_EXCEEDED = 0x97;

/**
 * Subscription Identifiers of readings begin here, above the ones that programs choose. They take two bytes of each
 * message.
 */
const FIRST_IDENTIFIER = 10_000;

/**
 * Resumes the stream subscriptions of an mqtt.js client after a reconnect. It subscribes again with the position of the
 * last message, and hands the messages of each topic to the program in the order of their numbers, each once. Call it
 * before the program subscribes.
 *
 * ```ts
 * const client = resume(mqtt.connect(url, { protocolVersion: 5 }), { onGap: reload });
 * client.subscribe('chat/room-7', { properties: { userProperties: { rewind: '50' } } });
 * ```
 *
 * @returns the same client
 * @throws Error for a client that does not use MQTT 5
 */
export function resume(client: MqttClient, options: ResumeOptions = {}): MqttClient {
  if (client.options.protocolVersion !== 5)
    throw new Error('resume: streams are read with protocolVersion 5');
  new Resumer(client, options).start();
  return client;
}

type Subscribe = Extract<Packet, { cmd: 'subscribe' }>;
type Suback = Extract<Packet, { cmd: 'suback' }>;
type Publish = Extract<Packet, { cmd: 'publish' }>;
type Subscription = Subscribe['subscriptions'][number];

/** A reading, and how its filter was subscribed. */
interface Entry {
  readonly reading: Reading;
  readonly options: Omit<Subscription, 'topic'>;
  readonly alarm: Alarm;
}

class Resumer {
  readonly #client: MqttClient;
  readonly #onGap: (gap: StreamGap) => void;
  readonly #timers: Timers;
  readonly #entries = new Map<string, Entry>();
  readonly #byIdentifier = new Map<number, Entry>();
  /** Readings by the packet identifier of a SUBSCRIBE or UNSUBSCRIBE that is not answered. */
  readonly #asked = new Map<number, readonly Entry[]>();
  #identifiers = FIRST_IDENTIFIER;

  constructor(client: MqttClient, { onGap, timers }: ResumeOptions) {
    this.#client = client;
    this.#onGap = onGap ?? (() => {});
    this.#timers = timers ?? systemTimers;
  }

  start(): void {
    const client = this.#client;
    // Each SUBSCRIBE has one filter: the user properties of SUBACK would not say which filter they mean.
    client.options.subscribeBatchSize = 1;
    client.on('packetsend', (packet) => this.#sends(packet));
    client.on('packetreceive', (packet) => this.#receives(packet));
    client.on('connect', () => this.#connected());
    client.on('close', () => this.#closed());
    const emit = client.emit.bind(client) as (event: string, ...rest: unknown[]) => boolean;
    const take = (event: string, ...rest: unknown[]): boolean => {
      const isTaken = event === 'message' && this.#take(rest, () => emit(event, ...rest));
      return isTaken || emit(event, ...rest);
    };
    client.emit = take as typeof client.emit;
  }

  /** mqtt.js repeats the program's SUBSCRIBE after a reconnect: this writes the positions into that packet. */
  #sends(packet: Packet): void {
    if (packet.cmd === 'unsubscribe') this.#unsubscribes(packet.messageId ?? 0, packet.unsubscriptions);
    if (packet.cmd !== 'subscribe') return;
    const [subscription] = packet.subscriptions;
    if (subscription === undefined || packet.subscriptions.length > 1) return;
    const properties = packet.properties as Subscribe['properties'];
    const entry = this.#entryOf(subscription, properties);
    if (entry === undefined) return;
    const { reading } = entry;
    const { userProperties: _, ...others } = properties ?? {};
    const asked = reading.ask();
    packet.properties = { ...others, subscriptionIdentifier: reading.identifier };
    // mqtt-packet cannot write an empty list.
    if (Object.keys(asked).length > 0) packet.properties.userProperties = asked;
    this.#asked.set(packet.messageId ?? 0, [entry]);
  }

  #entryOf({ topic, ...options }: Subscription, properties: Subscribe['properties']): Entry | undefined {
    const name = plainFilter(topic);
    const known = this.#entries.get(name);
    if (known !== undefined && !known.reading.isEnding) return known;
    const userProperties = properties?.userProperties as UserProperties | undefined;
    if (!isReading(topic, userProperties)) return undefined;
    const identifier = properties?.subscriptionIdentifier ?? this.#nextIdentifier();
    const reading = new Reading(topic, identifier, userProperties);
    const entry = { reading, options, alarm: new Alarm(this.#timers) };
    this.#entries.set(name, entry);
    this.#byIdentifier.set(identifier, entry);
    return entry;
  }

  #nextIdentifier(): number {
    this.#identifiers += 1;
    return this.#identifiers;
  }

  #receives(packet: Packet): void {
    if (packet.cmd !== 'suback' && packet.cmd !== 'unsuback') return;
    const messageId = packet.messageId ?? 0;
    const entries = this.#asked.get(messageId) ?? [];
    this.#asked.delete(messageId);
    for (const entry of entries) {
      if (packet.cmd === 'suback') this.#answered(entry, packet);
      else if (entry.reading.isEnding) this.#forget(entry);
    }
  }

  #answered(entry: Entry, { granted, properties }: Suback): void {
    const { reading, alarm } = entry;
    const [code = 0x80] = granted as number[];
    alarm.clear();
    if (code >= 0x80) {
      this.#refused(entry, code);
      return;
    }
    const grant = reading.granted(properties?.userProperties as UserProperties | undefined);
    if (grant === 'plain') this.#forget(entry);
    if (grant === 'gap') this.#onGap({ topicFilter: reading.topicFilter, refusedWith: undefined });
  }

  #refused(entry: Entry, code: number): void {
    const { reading } = entry;
    const { hasBegun, mayBeTooWide, topicFilter } = reading;
    reading.closed();
    if (code === QUOTA_EXCEEDED && mayBeTooWide) {
      // The subscription begins once more, with a gap.
      reading.widen();
      this.#timers.defer(() => this.#ask(entry));
      return;
    }
    this.#forget(entry);
    if (hasBegun) this.#onGap({ topicFilter, refusedWith: code });
  }

  /** mqtt.js has repeated its subscriptions by now. If the session was resumed, it repeats none. */
  #connected(): void {
    // Deferred: a program may subscribe by itself in `connect`.
    this.#timers.defer(() => {
      for (const entry of this.#entries.values()) if (!entry.reading.isLive) this.#ask(entry);
    });
  }

  #ask({ reading, options, alarm }: Entry): void {
    alarm.clear();
    if (!this.#client.connected || reading.isEnding || reading.isAsked) return;
    reading.dropHeld();
    const { topicFilter, userProperties } = reading;
    const subscriptions = { [topicFilter]: options, resubscribe: true } as unknown as ISubscriptionMap;
    this.#client.subscribe(subscriptions, { qos: 0, properties: { userProperties } }, () => {});
  }

  #closed(): void {
    this.#asked.clear();
    for (const entry of [...this.#byIdentifier.values()]) {
      entry.alarm.clear();
      entry.reading.closed();
      if (entry.reading.isEnding) this.#forget(entry);
    }
  }

  #unsubscribes(messageId: number, topicFilters: readonly string[]): void {
    const entries = topicFilters.flatMap((each) => this.#entries.get(plainFilter(each)) ?? []);
    for (const { reading } of entries) reading.isEnding = true;
    this.#asked.set(messageId, entries);
  }

  #forget(entry: Entry): void {
    const { reading, alarm } = entry;
    alarm.clear();
    const name = plainFilter(reading.topicFilter);
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
    if (this.#byIdentifier.get(reading.identifier) === entry) this.#byIdentifier.delete(reading.identifier);
  }

  /** True: the message belongs to a stream, and is handed over in its turn. */
  #take([topic, , packet]: unknown[], handOver: () => void): boolean {
    const { properties } = packet as Publish;
    const entries = [properties?.subscriptionIdentifier ?? []]
      .flat()
      .flatMap((identifier) => this.#byIdentifier.get(identifier) ?? []);
    const userProperties = properties?.userProperties as UserProperties | undefined;
    const [position] = positionsOf(userProperties, 'stream-position');
    if (position === undefined || entries.length === 0) return false;
    const isPast = userProperties?.['stream-kind'] !== undefined;
    const arrival: Arrival = { position, isPast, handOver: once(handOver) };
    for (const entry of entries) this.#sequence(entry, topic as string, arrival);
    return true;
  }

  #sequence(entry: Entry, topic: string, arrival: Arrival): void {
    const { reading, alarm } = entry;
    if (reading.take(topic, arrival) === 'ask') this.#ask(entry);
    else if (reading.heldCount === 0) alarm.clear();
    else if (!alarm.isSet) alarm.set(ORDER_WAIT_MS, () => this.#ask(entry));
  }
}

/** A message for two subscriptions comes as one message. */
function once(handOver: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    handOver();
  };
}
