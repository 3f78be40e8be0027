import type { IPublishPacket, MqttClient, Packet } from 'mqtt';
import type { MessageProperties } from '../types.ts';
import { payloadOffset } from '../wire/publish-layout.ts';
import type { TapListener } from '../wire/tap.ts';
import type { Batcher, Place } from './batcher.ts';
import type { FrameRecorder } from './frame-recorder.ts';
import { fromMqttProperties } from './mqtt-properties.ts';
import { StreamAnalysis } from './stream-analysis.ts';
import type { TrafficMeter } from './traffic-meter.ts';

/** A packet recorded by the tap. */
interface Seen {
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/**
 * Bytes that a socket has carried and mqtt.js has not reported yet, or the reverse; in order, so the first ones belong
 * together.
 */
interface Pairing {
  readonly incoming: Seen[];
  readonly outgoing: Packet[];
}

export interface RecorderOptions {
  readonly batcher: Batcher;
  readonly traffic: TrafficMeter;
  readonly protocolVersion: number;
  now(): number;
  /** The subscriptions that match a received message. */
  subscriptionsOf(topic: string, properties: MessageProperties | undefined, bytes: number): readonly string[];
  /** The socket has ended. */
  closed(code: number, reason: string): void;
  packetReceived(packet: Packet): void;
  /** Gateway door: joins packets with their frames. */
  readonly frames: FrameRecorder | undefined;
  /** Whether the message is a notice of the broker for this client. */
  takeNotice(topic: string, payload: Uint8Array, atMs: number): boolean;
}

/** Reason codes from here on are errors. */
const FAILURE = 0x80;

/** Whether mqtt.js may deliver the message later than its PUBLISH comes. */
function mayWait({ qos, properties }: IPublishPacket): boolean {
  return qos === 2 || properties?.userProperties?.['stream-position'] !== undefined;
}

const NO_SUBSCRIPTIONS: readonly string[] = [];

/**
 * Joins the tap's packets (exact bytes and times) with mqtt.js's messages (topics instead of aliases, QoS 2 once) into
 * the rows that the page gets.
 */
export class WireRecorder {
  readonly #options: RecorderOptions;
  readonly #analysis = new StreamAnalysis();
  readonly #aliases = new Map<number, string>();
  /**
   * QoS 2: mqtt.js delivers a message at PUBREL, long after its PUBLISH. With a stream, `resume` of `@apus/client`
   * holds a message until earlier ones have come.
   */
  readonly #held = new WeakMap<object, Seen>();
  #pairing: Pairing = { incoming: [], outgoing: [] };
  #current: (Seen & { readonly packet: Packet; readonly place: Place }) | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get frames(): FrameRecorder | undefined {
    return this.#options.frames;
  }

  /** Prepares for the next socket of the client. */
  listener(): TapListener {
    const pairing: Pairing = { incoming: [], outgoing: [] };
    const { traffic, now, closed, frames } = this.#options;
    this.#pairing = pairing;
    frames?.begin();
    this.#aliases.clear();
    return {
      packetIn: (bytes) => {
        traffic.bytesIn += bytes.length;
        pairing.incoming.push({ bytes, atMs: now() });
      },
      packetOut: (bytes) => {
        traffic.bytesOut += bytes.length;
        this.#sent(bytes, pairing.outgoing.shift());
      },
      closed: (code, reason) => {
        // The timeline also shows bytes that mqtt.js could not read: a user looks for them.
        for (const { bytes, atMs } of pairing.incoming.splice(0))
          this.#options.batcher.packet(bytes, atMs, false);
        closed(code, reason);
      },
    };
  }

  attach(client: MqttClient): void {
    client.on('packetsend', (packet) => this.#pairing.outgoing.push(packet));
    client.on('packetreceive', (packet) => this.#received(packet));
    client.on('message', (topic, _payload, packet) => this.#message(topic, packet));
  }

  #received(packet: Packet): void {
    const seen = this.#pairing.incoming.shift();
    if (seen !== undefined) {
      const place = this.#options.batcher.packet(seen.bytes, seen.atMs, false);
      this.#options.frames?.packetIn(place.id, seen.bytes);
      this.#current = { ...seen, packet, place };
      if (packet.cmd === 'publish' && mayWait(packet)) this.#held.set(packet, seen);
    }
    this.#answered(packet);
    this.#options.packetReceived(packet);
  }

  /** PUBACK, PUBCOMP, and a PUBREC that ends the exchange with an error. */
  #answered(packet: Packet): void {
    if (packet.cmd !== 'puback' && packet.cmd !== 'pubrec' && packet.cmd !== 'pubcomp') return;
    const { messageId: packetId, reasonCode = 0, properties } = packet;
    const isRefused = reasonCode >= FAILURE && packet.cmd !== 'pubcomp';
    if (packetId === undefined || (packet.cmd === 'pubrec' && !isRefused)) return;
    this.#options.batcher.outcome({
      packetId,
      state: isRefused ? 'refused' : 'acknowledged',
      code: this.#options.protocolVersion === 5 ? reasonCode : undefined,
      detail: properties?.reasonString ?? '',
    });
  }

  #message(topic: string, packet: IPublishPacket): void {
    const current = this.#current?.packet === packet ? this.#current : undefined;
    const seen = current ?? this.#held.get(packet);
    // Every message that mqtt.js delivers has passed the tap.
    if (seen === undefined) return;
    const { batcher, traffic, protocolVersion, subscriptionsOf, now } = this.#options;
    const properties = fromMqttProperties(packet.properties);
    const offset = payloadOffset(seen.bytes, protocolVersion);
    const atMs = current === undefined ? now() : seen.atMs;
    const payload = seen.bytes.subarray(offset);
    const isNotice = this.#options.takeNotice(topic, payload, atMs);
    const subscriptionIds = subscriptionsOf(topic, properties, seen.bytes.length);
    // Notices are only shown as messages if the user has subscribed to them.
    if (isNotice && subscriptionIds.length === 0) return;
    traffic.messagesIn += 1;
    const analysis = this.#analysis.look(topic, payload, properties, atMs, packet.retain);
    const message = {
      isPublished: false,
      atMs,
      topic,
      qos: packet.qos,
      retain: packet.retain,
      dup: packet.dup,
      packetId: packet.messageId ?? 0,
      properties,
      subscriptionIds,
      payloadOffset: offset,
      ...analysis,
    };
    batcher.message(message, seen.bytes, current?.place);
  }

  #sent(bytes: Uint8Array, packet: Packet | undefined): void {
    const { batcher, traffic, now, protocolVersion, frames } = this.#options;
    const atMs = now();
    const place = batcher.packet(bytes, atMs, true);
    frames?.packetOut(place.id, bytes);
    if (packet?.cmd !== 'publish') return;
    traffic.messagesOut += 1;
    const message = {
      isPublished: true,
      atMs,
      topic: this.#outgoingTopic(packet),
      qos: packet.qos,
      retain: packet.retain,
      dup: packet.dup,
      packetId: packet.messageId ?? 0,
      properties: fromMqttProperties(packet.properties),
      subscriptionIds: NO_SUBSCRIPTIONS,
      payloadOffset: payloadOffset(bytes, protocolVersion),
      latencyMs: undefined,
      missingBefore: 0,
    };
    batcher.message(message, bytes, place);
  }

  /** An alias stands for the topic with which it was last sent. */
  #outgoingTopic({ topic, properties }: IPublishPacket): string {
    const alias = properties?.topicAlias;
    if (alias === undefined) return topic;
    if (topic === '') return this.#aliases.get(alias) ?? '';
    this.#aliases.set(alias, topic);
    return topic;
  }
}
