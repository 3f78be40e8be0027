import { encodePacket, type Packet, PacketDecoder, type PublishPacket } from '@apus/mqtt';
import { WebSocket } from 'ws';
import { type Closed, openSocket, ProbeError, type ProbeTarget } from './probe-client.ts';

/** An answer that takes longer counts as missing. */
const ANSWER_MS_MAX = 10_000;

const PACKET_BYTES_MAX = 131_072;

/** A client of MQTT 5 in binary messages that acknowledges nothing by itself: each packet is a message of its own. */
export class ObjectClient {
  /** In the order in which they came. */
  readonly published: PublishPacket[] = [];
  readonly closed: Promise<Closed>;
  isClosed = false;
  readonly #socket: WebSocket;
  readonly #decoder = new PacketDecoder({ role: 'client', maximumPacketSize: PACKET_BYTES_MAX });
  #waiting:
    | { readonly type: Packet['type']; readonly came: (packet: Packet | undefined) => void }
    | undefined;
  #packetId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#receive(data));
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.isClosed = true;
        this.#waiting?.came(undefined);
        resolve({ code, reason: String(reason), atMs: performance.now() });
      });
    });
  }

  /**
   * A session that ends with its connection.
   * @param keepAliveSeconds 0: the server must not miss it
   * @throws {ProbeError} if the server refuses it
   */
  static async connect(target: ProbeTarget, suffix: string, keepAliveSeconds = 0): Promise<ObjectClient> {
    const client = new ObjectClient(await openSocket(target, ['mqtt']));
    const clientId = `${target.name}-${suffix}`;
    const connack = await client.#ask(
      { type: 'connect', protocolVersion: 5, cleanStart: true, keepAliveSeconds, clientId, properties: {} },
      'connack',
    );
    if (connack.type === 'connack' && connack.reasonCode === 0) return client;
    throw new ProbeError('The broker refuses the client.');
  }

  send(packet: Packet): void {
    this.#socket.send(encodePacket(packet, 5));
  }

  /** @throws {ProbeError} if the token does not allow it */
  async subscribe(topicFilter: string): Promise<void> {
    const suback = await this.#ask(
      {
        type: 'subscribe',
        packetId: this.#nextId(),
        subscriptions: [{ topicFilter, qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
        properties: {},
      },
      'suback',
    );
    if (suback.type === 'suback' && suback.reasonCodes.every((code) => code < 0x80)) return;
    throw new ProbeError('The token has to allow subscribing to apus-probe/#.');
  }

  /** At QoS 1. @throws {ProbeError} if the token does not allow it */
  async publish(topic: string, payload: string, retain = false): Promise<void> {
    const message = { topic, payload: Buffer.from(payload), qos: 1, retain, dup: false } as const;
    const puback = await this.#ask(
      { type: 'publish', ...message, packetId: this.#nextId(), properties: {} },
      'puback',
    );
    if (puback.type === 'puback' && puback.reasonCode < 0x80) return;
    throw new ProbeError('The token has to allow publishing to apus-probe/#.');
  }

  /** @throws {ProbeError} if no PINGRESP comes */
  async ping(): Promise<void> {
    await this.#ask({ type: 'pingreq' }, 'pingresp');
  }

  /** Sends DISCONNECT, and closes. */
  async end(): Promise<void> {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.send({ type: 'disconnect', reasonCode: 0, properties: {} });
      this.#socket.close(1000);
    }
    await this.closed;
  }

  async #ask(packet: Packet, type: Packet['type']): Promise<Packet> {
    let timer: NodeJS.Timeout | undefined;
    const answer = await new Promise<Packet | undefined>((came) => {
      if (this.isClosed) return came(undefined);
      this.#waiting = { type, came };
      timer = setTimeout(() => came(undefined), ANSWER_MS_MAX);
      this.send(packet);
    });
    clearTimeout(timer);
    this.#waiting = undefined;
    if (answer !== undefined) return answer;
    throw new ProbeError(
      this.isClosed ? 'The connection was closed.' : `No answer to ${packet.type} came within 10 s.`,
    );
  }

  #receive(data: Buffer): void {
    for (const packet of this.#decoder.push(data)) {
      if (!('type' in packet)) continue;
      if (packet.type === 'publish') this.published.push(packet);
      if (packet.type === this.#waiting?.type) this.#waiting.came(packet);
    }
  }

  #nextId(): number {
    this.#packetId = (this.#packetId % 65_535) + 1;
    return this.#packetId;
  }
}
