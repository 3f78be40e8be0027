import { type Delivery, type Message, remainingSeconds } from '@apus/broker';
import { isFailure, matches, type PublishPacket, ReasonCode } from '@apus/mqtt';
import {
  type BridgesContext,
  type LocalHandler,
  type LocalLink,
  LocalLinkEnded,
  type LocalSession,
} from '@apus/node';
import { type Bridge, newCounts, StateKeeper } from '../bridge.ts';
import { localOf, type MqttBridgeConfiguration, remoteOf, type TopicMapping } from '../configuration/mqtt.ts';
import { isFrom, withFrom, withHop } from '../hops.ts';
import { KeptSession } from '../kept-session.ts';
import { Remote, type RemoteHandlers } from './remote.ts';

/** Messages of this broker that the other one has not acknowledged; further ones wait in the session's queue. */
const WINDOW = 100;

/** The bridge has been stopped, or the connection that brought the message has ended: the message comes again. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/**
 * A bridge to another MQTT broker: a client of that broker and a client of this one, each with its own session. The
 * bridge acknowledges a message to one broker when the other has it, so each broker keeps the messages that have not
 * crossed.
 */
export class MqttBridge implements Bridge, LocalHandler, RemoteHandlers {
  readonly name: string;
  readonly tenant: string;
  readonly #configuration: MqttBridgeConfiguration;
  readonly #context: BridgesContext;
  readonly #remote: Remote;
  readonly #session: KeptSession;
  readonly #state: StateKeeper;
  readonly #in = newCounts();
  readonly #out = newCounts();
  /** Counts the connections to the other broker: work for an earlier one is given up. */
  #generation = 0;

  constructor(configuration: MqttBridgeConfiguration, context: BridgesContext) {
    this.name = configuration.name;
    this.tenant = configuration.tenant;
    this.#configuration = configuration;
    this.#context = context;
    this.#remote = new Remote(configuration, this);
    this.#session = this.#keptSession();
    const { clock, log } = context;
    this.#state = new StateKeeper(
      () => clock.now(),
      (state, error) => {
        const level = state === 'connected' ? 'info' : 'warn';
        log[level](`bridge-${state}`, { bridge: this.name, error });
      },
    );
  }

  #keptSession(): KeptSession {
    const { name, tenant, sessionExpirySeconds: expirySeconds, out } = this.#configuration;
    return new KeptSession(this.#context, {
      session: { tenant, kind: 'bridge', name, expirySeconds, receiveMaximum: WINDOW, handler: this },
      subscriptions: out.map(subscriptionTo),
      refused: (topicFilter, reasonCode) =>
        this.#context.log.error('bridge-subscription-refused', { bridge: name, topicFilter, reasonCode }),
      failed: (error) => this.#state.set(this.#state.state, error),
    });
  }

  async start(): Promise<void> {
    await this.#session.open();
    this.#remote.connect();
  }

  async status(): Promise<object> {
    const { name, url } = this.#configuration;
    return {
      ...{ name, type: 'mqtt', remote: url },
      ...this.#state.toJSON(),
      in: { ...this.#in },
      out: {
        ...this.#out,
        inflight: this.#remote.unacknowledged,
        waiting: this.#session.waitingMessages,
      },
    };
  }

  async stop(): Promise<void> {
    this.#session.stop();
    this.#generation += 1;
    await this.#remote.stop();
    await this.#session.leave();
    this.#state.set('stopped');
  }

  /** Handles a message of the other broker. */

  async received(packet: PublishPacket): Promise<void> {
    const mapping = this.#configuration.in.find((each) => matches(remoteOf(each), packet.topic));
    if (mapping === undefined || this.#isEcho(packet)) return;
    const userProperties = withHop(packet.properties.userProperties, this.#configuration.hopsMax);
    if (userProperties === undefined) {
      this.#in.looped += 1;
      return;
    }
    const topic = mapping.localPrefix + packet.topic.slice(mapping.remotePrefix.length);
    const properties = { ...packet.properties, userProperties };
    await this.#publishHere({ ...packet, topic, retain: packet.retain && mapping.retain, properties });
  }

  /** Drops messages of this bridge that the other broker sends back. */
  #isEcho({ topic, properties }: PublishPacket): boolean {
    const { traits, clientId, out } = this.#configuration;
    if (traits.honoursNoLocal || !isFrom(properties.userProperties, clientId)) return false;
    // A program may answer with the user properties of the request, on another topic.
    return out.some((mapping) => matches(remoteOf(mapping), topic));
  }

  async released(packetId: number): Promise<void> {
    await this.#untilHere((local) => local.link.release(packetId));
  }

  async up(isSessionPresent: boolean): Promise<void> {
    this.#generation += 1;
    if (!isSessionPresent) await this.#untilHere((local) => local.forgetReceived());
  }

  down(why: string | undefined): void {
    this.#generation += 1;
    if (!this.#session.isStopped) this.#state.set('disconnected', why);
  }

  /** Called after each connect, too. */
  ready(): void {
    this.#state.set('connected');
    this.#session.local?.link.drain();
  }

  /** Handles a message of this broker. */

  isReady(): boolean {
    return this.#remote.isReady();
  }

  deliver(message: Message, delivery: Delivery, link: LocalLink): void {
    const packet = this.#outgoing(message, delivery);
    if (packet === undefined) link.acknowledge(delivery);
    else void this.#publishThere(packet, delivery, link);
  }

  ended(why: string): void {
    this.#context.log.warn('bridge-session-ended', { bridge: this.name, error: why });
    void this.#session.reopen();
  }

  /** The packet for the other broker; undefined if the message does not cross. */
  #outgoing(message: Message, delivery: Delivery): PublishPacket | undefined {
    const mapping = this.#configuration.out.find((each) => matches(localOf(each), message.topic));
    if (mapping === undefined) return undefined;
    const userProperties = withHop(message.properties.userProperties, this.#configuration.hopsMax);
    if (userProperties === undefined) {
      this.#out.looped += 1;
      return undefined;
    }
    const { traits, clientId } = this.#configuration;
    const { expiresAtMs, payload } = message;
    const nowMs = this.#context.clock.now();
    const expiry =
      expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
    return {
      type: 'publish',
      topic: mapping.remotePrefix + message.topic.slice(mapping.localPrefix.length),
      ...{ payload, qos: delivery.qos, dup: delivery.dup, packetId: delivery.packetId },
      retain: delivery.retain && mapping.retain,
      properties: {
        ...message.properties,
        ...expiry,
        userProperties: traits.honoursNoLocal ? userProperties : withFrom(userProperties, clientId),
      },
    };
  }

  async #publishThere(packet: PublishPacket, delivery: Delivery, link: LocalLink): Promise<void> {
    try {
      const reasonCode = await this.#untilThere(packet);
      if (isFailure(reasonCode)) this.#refused('out', packet.topic, reasonCode);
      else this.#out.forwarded += 1;
      link.acknowledge(delivery);
    } catch (error) {
      if (this.#session.isStopped) return;
      if (packet.qos === 0) this.#out.dropped += 1;
      // The message is still in flight in the session: a new connection to this broker brings it again.
      else if (link === this.#session.local?.link) {
        await link.leave();
        this.ended((error as Error).message);
      }
    }
  }

  /** The answer of the other broker; if that is "too much at once", the answer to a later attempt. */
  async #untilThere(packet: PublishPacket): Promise<number> {
    for (;;) {
      const { reasonCode } = await this.#remote.publish(packet);
      const isLater = this.#configuration.traits.isQuotaTemporary && reasonCode === ReasonCode.QuotaExceeded;
      if (!isLater || packet.qos === 0) return reasonCode;
      await this.#session.pause();
      if (this.#session.isStopped) throw new GivenUp();
    }
  }

  /** Resolves when this broker has stored the message, or will never store it. */
  async #publishHere(packet: PublishPacket): Promise<void> {
    const reasonCode = await this.#untilHere(async ({ link }) => {
      const code = await link.publish(packet);
      if (code === ReasonCode.QuotaExceeded) throw new LocalLinkEnded('the broker has no room now');
      return code;
    });
    if (isFailure(reasonCode)) this.#refused('in', packet.topic, reasonCode);
    else this.#in.forwarded += 1;
  }

  /**
   * Tries again until the broker takes the message. Meanwhile the other broker gets no acknowledgement, and sends no
   * more.
   */
  async #untilHere<T>(work: (local: LocalSession) => T | Promise<T>): Promise<T> {
    const generation = this.#generation;
    for (;;) {
      if (generation !== this.#generation || this.#session.isStopped) throw new GivenUp();
      const local = this.#session.local;
      try {
        if (local !== undefined) return await work(local);
      } catch (error) {
        if (!(error instanceof LocalLinkEnded)) throw error;
      }
      await this.#session.pause();
    }
  }

  #refused(direction: 'in' | 'out', topic: string, reasonCode: number): void {
    const counts = direction === 'in' ? this.#in : this.#out;
    counts.refused += 1;
    this.#context.log.warn('bridge-message-refused', { bridge: this.name, direction, topic, reasonCode });
  }
}

function subscriptionTo(mapping: TopicMapping) {
  const { qos } = mapping;
  // No Local: the bridge's own messages do not go back. Retained messages cross once, when the mapping is new.
  return {
    topicFilter: localOf(mapping),
    qos,
    noLocal: true,
    retainAsPublished: true,
    retainHandling: 1,
  } as const;
}
