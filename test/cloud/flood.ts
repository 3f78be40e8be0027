import type { InProcessEmulator } from '@apus/emulated-aws';
import { encodePacket, type Packet, PacketDecoder, type PublishPacket } from '@apus/mqtt';
import { readServerFrame } from '../support/server-frame.ts';

export interface FloodOptions {
  readonly clientId: string;
  readonly framesPerSecond: number;
  /** Of each frame. */
  readonly packet: PublishPacket;
  /**
   * How long the client stays away after it was cut.
   * @default 100
   */
  readonly returnMs?: number;
}

/** When it was let in, and how that ended. */
export interface Connection {
  readonly openedAtMs: number;
  closedAtMs?: number;
  reasonCode?: number;
}

const OPEN = 1;
const RETURN_MS = 100;
const TICK_MS_MIN = 10;

/** A client that waits for no answer, and reconnects whenever it is cut. */
export class Flood {
  readonly connections: Connection[] = [];
  /** Connections that ended before CONNACK. */
  refusals = 0;
  readonly #emulator: InProcessEmulator;
  readonly #options: FloodOptions;
  #isOver = false;
  readonly #tickMs: number;

  constructor(emulator: InProcessEmulator, options: FloodOptions) {
    this.#emulator = emulator;
    this.#options = options;
    this.#tickMs = Math.max(TICK_MS_MIN, 1000 / options.framesPerSecond);
    this.#connect();
  }

  stop(): void {
    this.#isOver = true;
  }

  #connect(): void {
    if (this.#isOver) return;
    const socket = new this.#emulator.WebSocket(this.#emulator.url, ['mqtt-text-v1']);
    let connection: Connection | undefined;
    socket.addEventListener('open', () => socket.send(textOf(connectOf(this.#options.clientId))));
    socket.addEventListener('message', ({ data }: { data: string }) => {
      for (const packet of packetsIn(data)) {
        if (packet.type === 'connack') {
          connection = { openedAtMs: Date.now() };
          this.connections.push(connection);
          this.#flood(socket);
        }
        if (packet.type === 'disconnect' && connection) connection.reasonCode = packet.reasonCode;
      }
    });
    socket.addEventListener('close', () => {
      if (connection === undefined) this.refusals += 1;
      else connection.closedAtMs = Date.now();
      setTimeout(() => this.#connect(), this.#options.returnMs ?? RETURN_MS);
    });
  }

  #flood(socket: InstanceType<InProcessEmulator['WebSocket']>): void {
    if (this.#isOver || socket.readyState !== OPEN) return;
    const frame = `,${textOf(this.#options.packet)}`;
    for (let left = (this.#options.framesPerSecond * this.#tickMs) / 1000; left > 0; left -= 1)
      socket.send(frame);
    setTimeout(() => this.#flood(socket), this.#tickMs);
  }
}

function connectOf(clientId: string): Packet {
  return {
    type: 'connect',
    protocolVersion: 5,
    cleanStart: true,
    keepAliveSeconds: 0,
    clientId,
    properties: {},
  };
}

function textOf(packet: Packet): string {
  return Buffer.from(encodePacket(packet, 5)).toString('base64');
}

function packetsIn(text: string): Packet[] {
  const frame = readServerFrame(text);
  if (!('bytes' in frame)) return [];
  const decoder = new PacketDecoder({ role: 'client', maximumPacketSize: 131_072, protocolVersion: 5 });
  return decoder.push(frame.bytes).filter((each): each is Packet => 'type' in each);
}
