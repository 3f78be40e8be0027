import type { IConnackPacket, ISubackPacket } from 'mqtt-packet';
import { type Publisher, type Recorder, readHeader, type Subscriber } from '../measure/index.ts';
import type { ClientPlan } from '../scenario/plan.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { ClosedLoop } from './closed-loop.ts';
import { explainConnack } from './explain-connack.ts';
import { PacketIds } from './in-flight.ts';
import { type PacketBytes, PacketReader, placesOf } from './packet-reader.ts';
import {
  acknowledgement,
  connectPacket,
  DISCONNECT,
  PacketType,
  PINGREQ,
  type PublishTemplate,
  publishTemplate,
  readPacket,
  subscribePacket,
} from './packets.ts';
import type { Wire, WireEvents } from './wire.ts';

/** Publishes in flight, if the broker states no Receive Maximum. */
const WINDOW_MAX = 500;

/** Messages that may wait in one client for room in its window. Beyond it they are counted as not sent. */
const WAITING_MAX = 10_000;

const SUBSCRIBE_PACKET_ID = 1;

export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface FastClientOptions {
  readonly plan: ClientPlan;
  readonly scenario: Scenario;
  readonly clientId: string;
  readonly credentials: Credentials;
  readonly recorder: Recorder;
  readonly openWire: (events: WireEvents) => Wire;
  /** Called once, when the client is connected and subscribed, or has failed. */
  readonly answered: (isReady: boolean) => void;
}

interface Stream {
  readonly publisher: Publisher;
  readonly template: PublishTemplate;
}

interface Waiting {
  readonly stream: Stream;
  readonly dueMicros: number;
}

type Phase = 'connecting' | 'subscribing' | 'ready' | 'leaving' | 'over';

/**
 * An MQTT client that builds its packets by hand: it has only the features that a load needs, and does as little work
 * as possible.
 */
export class FastClient {
  readonly #options: FastClientOptions;
  readonly #reader = new PacketReader();
  readonly #hasProperties: boolean;
  readonly #streams: readonly Stream[];
  readonly #outbound = new PacketIds<{ publisher: Publisher; counter: number }>(WINDOW_MAX);
  readonly #received = new Set<number>();
  readonly #loop: ClosedLoop | undefined;
  #waiting: Waiting[] = [];
  #subscriber: Subscriber | undefined;
  #wire: Wire | undefined;
  #phase: Phase = 'connecting';
  #beganMicros = 0;
  #hasSent = false;

  constructor(options: FastClientOptions) {
    const { plan, scenario, recorder } = options;
    const { publish } = plan.group;
    this.#options = options;
    this.#hasProperties = scenario.mqttVersion === '5';
    this.#streams = plan.topics.map((topic) => {
      const { qos, payloadBytes } = publish ?? { qos: 0 as const, payloadBytes: 16 };
      return {
        publisher: recorder.publisher(topic, qos, payloadBytes),
        template: publishTemplate(scenario.mqttVersion, topic, qos, payloadBytes),
      };
    });
    if (publish?.window !== undefined)
      this.#loop = new ClosedLoop(publish.window, () => this.publish(0, recorder.now()));
  }

  connect(): void {
    const { recorder, openWire } = this.#options;
    this.#beganMicros = recorder.connectionAsked();
    this.#wire = openWire({
      open: () => this.#sendConnect(),
      bytes: (data) => this.#read(data),
      closed: (reason) => this.#closed(reason),
    });
  }

  /** Publishes on one of the client's topics, now or when its window has room. */
  publish(stream: number, dueMicros: number): void {
    const found = this.#streams[stream];
    if (found === undefined) return;
    if (this.#phase !== 'ready' || this.#waiting.length >= WAITING_MAX) found.publisher.notSent += 1;
    else if (found.publisher.qos > 0 && (this.#waiting.length > 0 || !this.#outbound.hasRoom)) {
      this.#waiting.push({ stream: found, dueMicros });
    } else this.#send(found, dueMicros);
  }

  /** Publishes as fast as its messages come back, until `endLoop`. For clients with a window. */
  beginLoop(): void {
    this.#loop?.begin();
  }

  endLoop(): void {
    this.#loop?.end();
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Messages that were sent and are not acknowledged, or wait to be sent. */
  get underWay(): number {
    return this.#outbound.size + this.#waiting.length;
  }

  /** Called every half Keep Alive: a client that has sent nothing since then sends a PINGREQ. */
  keepAlive(): void {
    if (this.#phase === 'ready' && !this.#hasSent) this.#wire?.send(PINGREQ);
    this.#hasSent = false;
  }

  leave(): void {
    for (const { stream } of this.#waiting.splice(0)) stream.publisher.notSent += 1;
    if (this.#phase === 'over') return;
    if (this.#phase === 'ready') this.#wire?.send(DISCONNECT);
    this.#phase = 'leaving';
    this.#wire?.close();
  }

  #sendConnect(): void {
    const { scenario, clientId, credentials } = this.#options;
    const { mqttVersion: version, cleanStart, keepAliveSeconds, sessionExpirySeconds } = scenario;
    const fields = { version, clientId, cleanStart, keepAliveSeconds, sessionExpirySeconds, ...credentials };
    this.#wire?.send(connectPacket(fields));
  }

  #send({ publisher, template }: Stream, dueMicros: number): void {
    const bytes = Buffer.allocUnsafe(template.bytes.length);
    template.bytes.copy(bytes);
    const counter = publisher.stamp(bytes, dueMicros, template.payloadAt);
    if (template.packetIdAt !== undefined)
      bytes.writeUInt16BE(this.#outbound.draw({ publisher, counter }), template.packetIdAt);
    this.#hasSent = true;
    this.#wire?.send(bytes);
  }

  #read(data: Buffer): void {
    const answers: Buffer[] = [];
    try {
      for (const packet of this.#reader.push(data)) this.#take(packet, answers);
    } catch (error) {
      this.#fail(`the broker sent what is not MQTT: ${(error as Error).message}`);
    }
    // One frame for all packets that one received frame causes.
    const [first, ...more] = answers;
    if (first !== undefined && this.#phase !== 'over')
      this.#wire?.send(more.length === 0 ? first : Buffer.concat(answers));
  }

  #take(packet: PacketBytes, answers: Buffer[]): void {
    switch (packet.type) {
      case PacketType.PUBLISH:
        this.#takePublish(packet, answers);
        break;
      case PacketType.PUBACK:
      case PacketType.PUBCOMP:
        this.#takeAcknowledged(packet);
        break;
      case PacketType.PUBREC:
        if (isRefusal(packet)) this.#takeAcknowledged(packet);
        else answers.push(acknowledgement(PacketType.PUBREL, packetIdOf(packet)));
        break;
      case PacketType.PUBREL:
        this.#received.delete(packetIdOf(packet));
        answers.push(acknowledgement(PacketType.PUBCOMP, packetIdOf(packet)));
        break;
      case PacketType.CONNACK:
        // One that comes when the run has ended makes no client ready.
        if (this.#phase === 'connecting') this.#takeConnack(packet.bytes);
        break;
      case PacketType.SUBACK:
        if (this.#phase === 'subscribing') this.#takeSuback(packet.bytes);
        break;
      case PacketType.DISCONNECT:
        this.#fail(`the broker sent DISCONNECT ${hex(packet.bytes[packet.bodyAt] ?? 0)}`);
        break;
    }
  }

  #takePublish(packet: PacketBytes, answers: Buffer[]): void {
    const { qos, packetId, payloadAt } = placesOf(packet, this.#hasProperties);
    if (qos === 1) answers.push(acknowledgement(PacketType.PUBACK, packetId));
    if (qos === 2) {
      answers.push(acknowledgement(PacketType.PUBREC, packetId));
      // A repeated PUBLISH before PUBREL: QoS 2 allows it, and it is not a second message.
      if (this.#received.has(packetId)) return;
      this.#received.add(packetId);
    }
    const micros = this.#subscriber?.take(packet.bytes, payloadAt);
    if (this.#loop !== undefined && micros !== undefined && this.#isOwn(packet.bytes, payloadAt))
      this.#loop.cameBack();
  }

  #isOwn(bytes: Buffer, payloadAt: number): boolean {
    return readHeader(bytes, payloadAt)?.stream === this.#streams[0]?.publisher.stream;
  }

  #takeAcknowledged(packet: PacketBytes): void {
    const found = this.#outbound.release(packetIdOf(packet));
    // A refused message stays unacknowledged: the broker has not promised to deliver it.
    if (isRefusal(packet)) {
      const { recorder } = this.#options;
      recorder.refused += 1;
      recorder.problem(`a message was refused with ${hex(reasonCodeOf(packet))}`);
    } else found?.publisher.acknowledged(found.counter);
    while (this.#outbound.hasRoom && this.#phase === 'ready') {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#send(next.stream, next.dueMicros);
    }
  }

  #takeConnack(bytes: Buffer): void {
    const { recorder, scenario, plan } = this.#options;
    const connack = readPacket(bytes, scenario.mqttVersion) as IConnackPacket | undefined;
    const refusal = connack === undefined ? 'the CONNACK cannot be read' : explainConnack(connack);
    if (refusal !== undefined) {
      this.#fail(refusal);
      return;
    }
    recorder.connectionMade(this.#beganMicros);
    this.#outbound.windowMax = Math.min(WINDOW_MAX, connack?.properties?.receiveMaximum ?? WINDOW_MAX);
    if (plan.filters.length === 0) {
      this.#becomeReady();
      return;
    }
    this.#phase = 'subscribing';
    this.#subscriber = recorder.subscriber(plan.filters);
    const { mqttVersion } = scenario;
    this.#wire?.send(subscribePacket(mqttVersion, SUBSCRIBE_PACKET_ID, plan.filters, plan.subscribeQos));
  }

  #takeSuback(bytes: Buffer): void {
    const suback = readPacket(bytes, this.#options.scenario.mqttVersion) as ISubackPacket | undefined;
    const refused = suback?.granted.find((code) => Number(code) >= 0x80);
    if (suback === undefined) this.#fail('the SUBACK cannot be read');
    else if (refused !== undefined) this.#fail(`a subscription was refused with ${hex(Number(refused))}`);
    else this.#becomeReady();
  }

  #becomeReady(): void {
    this.#phase = 'ready';
    this.#options.answered(true);
  }

  #fail(reason: string): void {
    this.#closed(reason);
    this.#wire?.close();
  }

  #closed(reason: string): void {
    const before = this.#phase;
    this.#phase = 'over';
    if (before === 'over' || before === 'leaving') return;
    const { recorder, answered } = this.#options;
    recorder.problem(reason);
    for (const { stream } of this.#waiting.splice(0)) stream.publisher.notSent += 1;
    if (before === 'ready') recorder.lost += 1;
    else answered(false);
  }
}

function packetIdOf({ bytes, bodyAt }: PacketBytes): number {
  return bytes.readUInt16BE(bodyAt);
}

/** The Reason Code of an acknowledgement follows the packet id; without one it means success. */
function reasonCodeOf({ bytes, bodyAt }: PacketBytes): number {
  return bytes[bodyAt + 2] ?? 0;
}

function isRefusal(packet: PacketBytes): boolean {
  return reasonCodeOf(packet) >= 0x80;
}

function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, '0')}`;
}
