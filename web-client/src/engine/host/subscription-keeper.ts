import { matches, parseShared } from '@apus/mqtt/topic';
import type { ClientSubscribeCallback, MqttClient } from 'mqtt';
import { isReading, plainFilter } from '../stream-reading.ts';
import type { MessageProperties, Qos, Subscription, SubscriptionState, Trouble } from '../types.ts';
import { type MqttUserProperties, toMqttUserProperties, withoutUndefined } from './mqtt-properties.ts';
import { Rate } from './rate.ts';
import { trouble } from './troubles.ts';

/** Topics whose matching subscriptions are cached, so that most messages need one look-up. */
const MATCHES_MAX = 10_000;

type Suback = Parameters<ClientSubscribeCallback>[2];

/** The state of one subscription at the server. */
interface Kept {
  subscription: Subscription;
  status: SubscriptionState['status'];
  grantedQos: Qos | undefined;
  trouble: Trouble | undefined;
  /** For a stream: whether all messages since its beginning have come. */
  isWhole: boolean | undefined;
  identifier: number | undefined;
  /** The topic filter without the prefix of a share group or a stream. */
  readonly filter: string;
  messages: number;
  bytes: number;
  readonly rate: Rate;
}

export interface KeeperOptions {
  readonly protocolVersion: number;
  now(): number;
  /** Something has changed that the page shows. */
  changed(): void;
}

/**
 * Makes the server's subscriptions equal to those of the profile, and counts the messages of each. The page sets all
 * subscriptions at once; the difference determines the packets to send.
 */
export class SubscriptionKeeper {
  readonly #options: KeeperOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #matches = new Map<string, readonly string[]>();
  #client: MqttClient | undefined;
  #identifiersAvailable = false;
  #lastIdentifier = 0;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  get wanted(): readonly Subscription[] {
    return [...this.#kept.values()].map(({ subscription }) => subscription);
  }

  set(subscriptions: readonly Subscription[]): void {
    this.#matches.clear();
    const wanted = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
    for (const [id, kept] of this.#kept) if (!wanted.has(id)) this.#remove(id, kept);
    for (const subscription of subscriptions) this.#wish(subscription);
    this.#options.changed();
  }

  /** @param sessionPresent whether the server still has the subscriptions that it granted before */
  connected(client: MqttClient, sessionPresent: boolean, identifiersAvailable: boolean): void {
    this.#client = client;
    this.#identifiersAvailable = identifiersAvailable && this.#options.protocolVersion === 5;
    for (const kept of this.#kept.values()) {
      if (!kept.subscription.enabled) continue;
      const { filter, userProperties } = kept.subscription;
      // In a resumed session the server sends no messages of a stream before the client has sent its position.
      const isThere = sessionPresent && kept.status === 'granted' && !isReading(filter, userProperties);
      if (!isThere) this.#subscribe(kept);
    }
  }

  lost(): void {
    this.#client = undefined;
    for (const kept of this.#kept.values()) if (kept.status === 'waiting') kept.status = 'off';
  }

  /** The subscriptions that match a message, by its Subscription Identifiers or by its topic; and counts it. */
  count(topic: string, properties: MessageProperties | undefined, bytes: number): readonly string[] {
    const identifiers = properties?.subscriptionIdentifiers;
    const ids = (identifiers && this.#byIdentifiers(identifiers)) ?? this.#byTopic(topic);
    for (const id of ids) {
      const kept = this.#kept.get(id);
      if (kept === undefined) continue;
      kept.messages += 1;
      kept.bytes += bytes;
    }
    return ids;
  }

  states(atMs: number): Record<string, SubscriptionState> {
    const isConnected = this.#client !== undefined;
    const states: Record<string, SubscriptionState> = {};
    for (const [id, kept] of this.#kept) {
      const { status, grantedQos, trouble, isWhole, messages, bytes, subscription } = kept;
      const messagesPerSecond = kept.rate.sample(messages, atMs);
      const shown = !isConnected && subscription.enabled && status !== 'refused' ? 'waiting' : status;
      states[id] = { status: shown, grantedQos, trouble, isWhole, messages, bytes, messagesPerSecond };
    }
    return states;
  }

  #wish(subscription: Subscription): void {
    const known = this.#kept.get(subscription.id);
    if (known !== undefined && isAnother(known.subscription, subscription)) {
      this.#remove(subscription.id, known);
      this.#wish(subscription);
      return;
    }
    const kept = known ?? newlyKept(subscription);
    const before = kept.subscription;
    kept.subscription = subscription;
    this.#kept.set(subscription.id, kept);
    if (!subscription.enabled) {
      if (kept.status !== 'off') this.#unsubscribe(kept);
      return;
    }
    const isNew = known === undefined || !before.enabled;
    if (isNew || optionsOf(before) !== optionsOf(subscription)) this.#subscribe(kept);
  }

  #remove(id: string, kept: Kept): void {
    this.#kept.delete(id);
    if (kept.status !== 'off') this.#unsubscribe(kept);
  }

  #subscribe(kept: Kept): void {
    const client = this.#client;
    kept.status = 'waiting';
    kept.trouble = undefined;
    kept.isWhole = undefined;
    if (client === undefined) return;
    const { subscription } = kept;
    const { filter, qos, noLocal, retainAsPublished, retainHandling } = subscription;
    kept.identifier = this.#identifierFor(kept);
    const properties = withoutUndefined({
      subscriptionIdentifier: kept.identifier,
      userProperties: toMqttUserProperties(subscription.userProperties),
    });
    const options =
      this.#options.protocolVersion === 5
        ? { qos, nl: noLocal, rap: retainAsPublished, rh: retainHandling, properties }
        : { qos };
    client.subscribe(filter, options, (error, _granted, packet) => {
      if (client !== this.#client || kept.subscription !== subscription) return;
      this.#answered(kept, error, packet);
    });
  }

  #answered(kept: Kept, error: Error | null, suback: Suback): void {
    const code = Number(suback?.granted[0] ?? 0x80);
    const atMs = this.#options.now();
    if (suback === undefined && error !== null) {
      kept.status = 'refused';
      kept.trouble = trouble('invalid', atMs, undefined, error.message);
    } else if (code >= 0x80) {
      kept.status = 'refused';
      kept.trouble = trouble('reason', atMs, code, suback?.properties?.reasonString);
    } else {
      kept.status = 'granted';
      kept.grantedQos = code === 2 ? 2 : code === 1 ? 1 : 0;
      const said = suback?.properties?.userProperties as MqttUserProperties | undefined;
      const recovered = said?.['stream-recovered'];
      kept.isWhole = recovered === undefined ? undefined : recovered === 'true';
    }
    this.#options.changed();
  }

  #unsubscribe(kept: Kept): void {
    kept.status = 'off';
    kept.grantedQos = undefined;
    kept.trouble = undefined;
    kept.isWhole = undefined;
    this.#client?.unsubscribe(kept.subscription.filter, () => {});
  }

  #identifierFor(kept: Kept): number | undefined {
    const { filter, identifier, userProperties } = kept.subscription;
    if (!this.#identifiersAvailable) return undefined;
    // Only the identifier shows that messages of a stream belong to the subscription.
    if (identifier === 'none' && !isReading(filter, userProperties)) return undefined;
    if (typeof identifier === 'number') return identifier;
    return kept.identifier ?? this.#freeIdentifier();
  }

  #freeIdentifier(): number {
    const taken = new Set([...this.#kept.values()].map(({ subscription }) => subscription.identifier));
    do this.#lastIdentifier += 1;
    while (taken.has(this.#lastIdentifier));
    return this.#lastIdentifier;
  }

  #byIdentifiers(identifiers: readonly number[]): readonly string[] | undefined {
    const ids: string[] = [];
    for (const [id, kept] of this.#kept) {
      if (kept.identifier !== undefined && identifiers.includes(kept.identifier)) ids.push(id);
    }
    // Identifiers from before the session was replaced mean nothing here.
    return ids.length === 0 ? undefined : ids;
  }

  #byTopic(topic: string): readonly string[] {
    let ids = this.#matches.get(topic);
    if (ids === undefined) {
      ids = [...this.#kept]
        .filter(([, kept]) => kept.subscription.enabled && matches(kept.filter, topic))
        .map(([id]) => id);
      if (this.#matches.size >= MATCHES_MAX) this.#matches.clear();
      this.#matches.set(topic, ids);
    }
    return ids;
  }
}

function newlyKept(subscription: Subscription): Kept {
  const parsed = parseShared(subscription.filter);
  return {
    subscription,
    status: 'off',
    grantedQos: undefined,
    trouble: undefined,
    isWhole: undefined,
    identifier: undefined,
    filter: 'topicFilter' in parsed ? plainFilter(parsed.topicFilter) : subscription.filter,
    messages: 0,
    bytes: 0,
    rate: new Rate(),
  };
}

/** Whether the client has to unsubscribe from the one before it subscribes to the other. */
function isAnother(before: Subscription, next: Subscription): boolean {
  return before.filter !== next.filter || beginningOf(before) !== beginningOf(next);
}

/** The beginning in a stream, which is sent once: on later connections the subscription continues from its position. */
function beginningOf({ filter, userProperties }: Subscription): string {
  return isReading(filter, userProperties) ? JSON.stringify(userProperties) : '';
}

/** The options of a subscription that the server gets, without alias and colour. */
function optionsOf(subscription: Subscription): string {
  const { qos, noLocal, retainAsPublished, retainHandling, identifier, userProperties } = subscription;
  return JSON.stringify([qos, noLocal, retainAsPublished, retainHandling, identifier, userProperties]);
}
