import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as mqttPacket from 'mqtt-packet';
import { type WebSocket, WebSocketServer } from 'ws';
import { readClientFrame } from './client-frame.ts';
import type { Link, MiniBroker } from './mini-broker.ts';

interface GatewayOptions {
  /** How long a handler takes, in milliseconds. */
  readonly handlerMs: () => number;
  /** How long a push takes, in milliseconds. */
  readonly pushMs?: () => number;
  /** Decides the fate of a frame. @default 'handle' */
  readonly fate?: (packets: readonly mqttPacket.Packet[]) => Fate;
  readonly token?: string;
}

/**
 * The frame is lost before the handler runs, its reply is lost, the gateway answers itself, or the connection is cut.
 */
export type Fate = 'handle' | 'lose reply' | 'fail' | 'cut' | { readonly take: number };

/**
 * Stands in for API Gateway and its Lambda functions, strictly: it takes text frames only, echoes the subprotocol,
 * handles frames concurrently, and sends pushes another way than replies.
 */
export class TextGateway {
  readonly violations: string[] = [];
  frames = 0;
  readonly queries: string[] = [];
  readonly #server: WebSocketServer;
  readonly #broker: MiniBroker;
  readonly #options: GatewayOptions;
  readonly #sockets = new Set<WebSocket>();

  private constructor(broker: MiniBroker, options: GatewayOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#server = new WebSocketServer({
      host: '127.0.0.1',
      port: 0,
      maxPayload: 32_768,
      handleProtocols: (offered) => (offered.has('mqtt-text-v1') ? 'mqtt-text-v1' : false),
      verifyClient: ({ req }: { req: IncomingMessage }) => this.#admits(req.url ?? ''),
    });
    this.#server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(broker: MiniBroker, options: GatewayOptions): Promise<TextGateway> {
    const gateway = new TextGateway(broker, options);
    await once(gateway.#server, 'listening');
    return gateway;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mqtt`;
  }

  /** Sockets that have not been closed on the gateway's side either. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Ends every connection, as the gateway does after two hours. */
  cut(): void {
    for (const socket of this.#sockets) socket.close(1001, 'Going away');
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #admits(url: string): boolean {
    const query = url.split('?')[1] ?? '';
    this.queries.push(query);
    return (
      this.#options.token === undefined || new URLSearchParams(query).get('token') === this.#options.token
    );
  }

  #serve(socket: WebSocket): void {
    const connection = new Connection(socket, this.#options.pushMs ?? (() => 0));
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#broker.lost(connection);
    });
    socket.on('message', (data, isBinary) => {
      this.frames += 1;
      if (isBinary) {
        this.violations.push('a binary frame');
        socket.close(1003);
      } else {
        void this.#handle(connection, data.toString());
      }
    });
  }

  async #handle(connection: Connection, text: string): Promise<void> {
    const frame = readClientFrame(text);
    if (frame === undefined) {
      this.violations.push(`not a frame: ${text.slice(0, 60)}`);
      connection.socket.close(1000);
      return;
    }
    if (frame.replyWanted) connection.inFlight += 1;
    if (connection.inFlight > 1) this.violations.push('two frames in flight');
    await sleep(this.#options.handlerMs());
    const packets = frame.packets.map((bytes) => parse(connection.version, bytes));
    const fate = this.#options.fate?.(packets) ?? 'handle';
    if (fate === 'cut') return connection.socket.terminate();
    if (fate === 'fail') {
      connection.socket.send(
        JSON.stringify({ message: 'Internal server error', connectionId: 'c', requestId: 'r' }),
      );
      return;
    }
    const taken = typeof fate === 'object' ? Math.min(fate.take, packets.length) : packets.length;
    const replies: mqttPacket.Packet[] = [];
    connection.reply = frame.replyWanted ? replies : undefined;
    for (const packet of packets.slice(0, taken)) this.#broker.handle(connection, packet);
    connection.reply = undefined;
    if (!frame.replyWanted) return;
    // A handler answers when its pushes have arrived.
    await Promise.all([...this.#sockets].map(() => connection.pushed));
    connection.inFlight -= 1;
    if (fate === 'lose reply') return;
    const header = taken < packets.length ? `!${taken}` : '';
    connection.socket.send(`${header}:${encode(replies, connection.version)}`);
  }
}

class Connection implements Link {
  version = 4;
  session: Link['session'];
  inFlight = 0;
  reply: mqttPacket.Packet[] | undefined;
  pushed: Promise<void> = Promise.resolve();
  readonly socket: WebSocket;
  readonly #pushMs: () => number;

  constructor(socket: WebSocket, pushMs: () => number) {
    this.socket = socket;
    this.#pushMs = pushMs;
  }

  send(packet: mqttPacket.Packet): void {
    if (this.reply !== undefined) {
      this.reply.push(packet);
      return;
    }
    this.pushed = this.pushed.then(async () => {
      await sleep(this.#pushMs());
      this.socket.send(encode([packet], this.version));
    });
  }

  close(): void {
    void this.pushed.then(() => setTimeout(() => this.socket.close(1000), 20));
  }
}

function parse(version: number, bytes: Buffer): mqttPacket.Packet {
  const packets: mqttPacket.Packet[] = [];
  const parser = mqttPacket.parser({ protocolVersion: version });
  parser.on('packet', (packet) => packets.push(packet));
  parser.parse(bytes);
  const [packet] = packets;
  if (packet === undefined) throw new Error(`not a packet: ${bytes.toString('hex')}`);
  return packet;
}

function encode(packets: readonly mqttPacket.Packet[], protocolVersion: number): string {
  return Buffer.concat(
    packets.map((packet) => mqttPacket.generate(packet, { protocolVersion }) as Buffer),
  ).toString('base64');
}

function sleep(milliseconds: number): Promise<void> {
  return milliseconds === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, milliseconds));
}
