import { once } from 'node:events';
import { generate } from 'mqtt-packet';
import { WebSocket } from 'ws';
import { readServerFrame } from '../support/server-frame.ts';

export type DoorOfClient = 'node' | 'gateway';

export type Fields = Readonly<Record<string, unknown>>;

const VERSION = { protocolVersion: 5 } as never;
const CONNECT = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clean: true, keepalive: 0 };
/** How long an attacker waits for an answer. None may come: the broker may have stopped reading the connection. */
const ANSWER_MS = 10_000;
/** How long an attacker waits until its bytes have left. They may never leave: the broker may have stopped reading. */
const SENT_MS = 500;

export function encode(packet: Fields): Buffer {
  return generate(packet as never, VERSION);
}

/** A client of either door that keeps no rule. The attack decides which bytes it sends, and in which frames. */
export class Attacker {
  readonly door: DoorOfClient;
  isClosed = false;
  readonly #socket: WebSocket;
  readonly #answers: Buffer[] = [];
  /** Called at each answer and at the end of the connection. */
  #noticed: () => void = () => {};

  private constructor(door: DoorOfClient, socket: WebSocket) {
    this.door = door;
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#answers.push(isBinary ? data : bytesOf(String(data)));
      this.#noticed();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#noticed();
    });
    socket.on('error', () => {});
  }

  /** Opens a WebSocket and sends nothing. */
  static async open(door: DoorOfClient, url: string): Promise<Attacker> {
    const socket = new WebSocket(url, door === 'node' ? ['mqtt'] : ['mqtt-text-v1']);
    const attacker = new Attacker(door, socket);
    await once(socket, 'open');
    return attacker;
  }

  static async connect(door: DoorOfClient, url: string, clientId: string): Promise<Attacker> {
    const attacker = await Attacker.open(door, url);
    attacker.send({ ...CONNECT, clientId });
    await attacker.answered(1);
    return attacker;
  }

  /** Sends a packet in a message of its own. */
  send(packet: Fields): void {
    const bytes = encode(packet);
    this.#socket.send(this.door === 'node' ? bytes : bytes.toString('base64'));
  }

  /** Sends the beginning of a message, in fragments of this size. The end never comes. */
  async begin(bytes: number, fragmentBytes: number): Promise<void> {
    const fragment = this.door === 'node' ? Buffer.alloc(fragmentBytes) : 'A'.repeat(fragmentBytes);
    for (let sent = 0; sent < bytes && !this.isClosed; sent += fragmentBytes)
      this.#socket.send(fragment, { fin: false, binary: this.door === 'node' });
    await this.sent();
  }

  /** Waits until this many answers have come, the connection has ended, or a while has passed. */
  async answered(count: number): Promise<void> {
    const isDone = () => this.#answers.length >= count || this.isClosed;
    if (isDone()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ANSWER_MS);
      this.#noticed = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits until all bytes have left for the broker, the connection has ended, or a while has passed. */
  async sent(): Promise<void> {
    const isDone = () => this.#socket.bufferedAmount === 0 || this.isClosed;
    for (const endMs = Date.now() + SENT_MS; !isDone() && Date.now() < endMs; )
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** The broker's answers. At the node door each has bytes of its own. */
  get answers(): readonly Buffer[] {
    return this.#answers;
  }

  leave(): void {
    this.#socket.terminate();
  }
}

function bytesOf(text: string): Buffer {
  const frame = readServerFrame(text);
  return 'bytes' in frame ? frame.bytes : Buffer.alloc(0);
}
