import * as mqttPacket from 'mqtt-packet';
import {
  createTransport,
  type MqttSocket,
  type Transport,
  type TransportEvent,
  type TransportOptions,
} from '../../src/index.ts';
import { ControlledClock } from './controlled-clock.ts';
import { FakeWebSocket } from './fake-web-socket.ts';

export type Packet = mqttPacket.Packet;
type Version = 4 | 5;

interface ReplyOptions {
  readonly more?: boolean;
  readonly taken?: number;
  readonly clock?: string;
  readonly parts?: number;
}

/** A transport between a library and a gateway; the test plays both. */
export class Harness {
  readonly clock = new ControlledClock();
  readonly sockets: FakeWebSocket[] = [];
  readonly events: TransportEvent[] = [];
  readonly options: { reconnectPeriod?: number; wsOptions?: object } = {};
  readonly transport: Transport;
  /** The packets that the library received, on any connection. */
  received: Packet[] = [];
  closes: { code: number; reason: string }[] = [];
  library: MqttSocket | undefined;
  version: Version = 4;

  constructor(options: TransportOptions = {}) {
    const { sockets } = this;
    this.transport = createTransport({
      timers: this.clock,
      page: {},
      random: () => 0.5,
      WebSocket: class extends FakeWebSocket {
        constructor(url: string, protocols: string[], webSocketOptions?: object) {
          super(url, protocols, webSocketOptions);
          sockets.push(this);
        }
      },
      onEvent: (event) => this.events.push(event),
      ...options,
    });
  }

  /** The socket of the latest connection. */
  get gateway(): FakeWebSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was made');
    return socket;
  }

  get socket(): MqttSocket {
    if (this.library === undefined) throw new Error('not connected');
    return this.library;
  }

  /** mqtt.js does the same in a browser; the WebSocket is opened with its CONNECT. */
  async dial(
    url = 'ws://gateway.test/mqtt',
    connect: Partial<mqttPacket.IConnectPacket> = {},
  ): Promise<void> {
    await this.listen(url);
    await this.writeConnect(connect);
  }

  /** Without CONNECT there is no WebSocket yet. */
  async listen(url = 'ws://gateway.test/mqtt'): Promise<void> {
    const parser = mqttPacket.parser({ protocolVersion: this.version });
    parser.on('packet', (packet) => this.received.push(packet));
    const socket = this.transport.createWebsocket(url, ['mqtt'], this.options);
    this.library = socket;
    socket.addEventListener('message', (event: { data: ArrayBuffer }) =>
      parser.parse(Buffer.from(event.data)),
    );
    socket.addEventListener('close', ({ code, reason }: { code: number; reason: string }) => {
      this.closes.push({ code, reason });
    });
    await this.clock.runDue();
  }

  /** Opens the socket and sends CONNECT. `protocol`: the subprotocol that the server chooses. */
  async open(
    connect: Partial<mqttPacket.IConnectPacket> = {},
    version: Version = 4,
    protocol?: string,
  ): Promise<void> {
    this.version = version;
    await this.dial(undefined, connect);
    this.gateway.open(protocol);
    await this.clock.runDue();
  }

  /** The transport opens the WebSocket when the library has written CONNECT. */
  async writeConnect(connect: Partial<mqttPacket.IConnectPacket> = {}): Promise<void> {
    await this.write({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: this.version,
      clientId: 'c',
      clean: true,
      keepalive: 60,
      ...connect,
    });
  }

  /** A connection whose CONNACK has come; its frames are forgotten. */
  async connect(
    connect: Partial<mqttPacket.IConnectPacket> = {},
    version: Version = 4,
    connack: Partial<mqttPacket.IConnackPacket> = {},
  ): Promise<void> {
    await this.open(connect, version);
    await this.reply([{ cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false, ...connack }]);
    this.gateway.texts.length = 0;
    this.received = [];
    this.events.length = 0;
  }

  bytes(packets: readonly Packet[]): Buffer {
    return Buffer.concat(
      packets.map((packet) => mqttPacket.generate(packet, { protocolVersion: this.version }) as Buffer),
    );
  }

  /** Writes packets in one go, as the library. */
  async write(...packets: readonly Packet[]): Promise<void> {
    this.socket.send(this.bytes(packets));
    await this.clock.runDue();
  }

  async reply(
    packets: readonly Packet[] = [],
    { more = false, taken, clock, parts }: ReplyOptions = {},
  ): Promise<void> {
    const header = [clock && `@${clock}`, taken !== undefined && `!${taken}`, parts && `*${parts}`]
      .filter((each) => each)
      .join('');
    await this.say(`${header}${more ? ';' : ':'}${this.bytes(packets).toString('base64')}`);
  }

  async push(...packets: readonly Packet[]): Promise<void> {
    await this.say(this.bytes(packets).toString('base64'));
  }

  /** The bytes of the outstanding reply. */
  async part(...packets: readonly Packet[]): Promise<void> {
    await this.say(`&${this.bytes(packets).toString('base64')}`);
  }

  async say(text: unknown): Promise<void> {
    this.gateway.say(text);
    await this.clock.runDue();
  }

  /** Frames of this connection, as the names of their packets behind the marker of a frame without a reply. */
  get sent(): string[] {
    return this.gateway.frames.map(({ replyWanted, packets }) => {
      const names = packets.map((packet) => this.#name(packet));
      return (replyWanted ? '' : ',') + (names.join(' ') || (replyWanted ? 'fetch' : 'alive'));
    });
  }

  get errors(): string[] {
    return this.events.flatMap((event) => (event.type === 'error' ? [event.error.code] : []));
  }

  /** Topics of the messages that the library received. */
  get topics(): string[] {
    return this.received.flatMap((packet) => (packet.cmd === 'publish' ? [packet.topic] : [packet.cmd]));
  }

  #name(bytes: Buffer): string {
    let name = '';
    const parser = mqttPacket.parser({ protocolVersion: this.version });
    parser.on('packet', (packet) => {
      name = packet.cmd === 'publish' ? packet.topic : packet.cmd;
    });
    parser.parse(bytes);
    return name;
  }
}

export function publish(
  topic: string,
  qos: 0 | 1 | 2 = 0,
  messageId = 1,
  payload: string | Buffer = '',
): Packet {
  return { cmd: 'publish', topic, qos, messageId, payload, retain: false, dup: false };
}

export const subscribe = (...topics: readonly string[]): Packet => ({
  cmd: 'subscribe',
  messageId: 1,
  subscriptions: topics.map((topic) => ({ topic, qos: 1 })),
});
export const puback = (messageId: number): Packet => ({ cmd: 'puback', messageId });
export const pingreq: Packet = { cmd: 'pingreq' };
export const pingresp: Packet = { cmd: 'pingresp' };
export const disconnect: Packet = { cmd: 'disconnect' };
