import { text } from 'node:stream/consumers';
import { SUBPROTOCOL, SUBPROTOCOL_WITH_OFFER } from '@apus/aws';
import { reasonOf } from '@apus/broker';
import { encodePacket, type Packet, PacketDecoder, type PublishPacket, type Will } from '@apus/mqtt';
import { WebSocket } from 'ws';
import { shownUrl } from '../shown-url.ts';
import { readServerFrame, type ServerFrame } from './server-frame.ts';

const SUBPROTOCOLS = [SUBPROTOCOL_WITH_OFFER, SUBPROTOCOL];

/** An answer that takes longer than this, for which the transport would wait, counts as missing. */
const REPLY_MS_MAX = 8_000;
const HANDSHAKE_MS_MAX = 20_000;
const EXPLANATION_LENGTH_MAX = 200;

/** The deployment lacks behaviour that every client needs: the probe cannot try anything on it. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError';
}

export interface ProbeTarget {
  readonly url: string;
  readonly token: string | undefined;
  /** The prefix of the topics and client identifiers of this run. */
  readonly name: string;
}

/** How a connection ended. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
  readonly atMs: number;
}

/** A client that writes text frames itself, one at a time, and records each server frame unchanged. */
export class ProbeClient {
  /** Each message of the socket, in order, with its exact bytes. */
  readonly messages: string[] = [];
  readonly published: PublishPacket[] = [];
  readonly closed: Promise<Closed>;
  readonly #socket: WebSocket;
  readonly #decoder = new PacketDecoder({ role: 'client', maximumPacketSize: 131_072, protocolVersion: 5 });
  #waiting:
    | { readonly resolve: (packets: readonly Packet[]) => void; readonly reject: (error: Error) => void }
    | undefined;
  #reply: Extract<ServerFrame, { kind: 'reply' }> | undefined;
  readonly #parts: Buffer[] = [];
  #packetId = 0;
  /** The move field of the last reply that had one. */
  #move: string | undefined;
  #extensions: readonly string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(String(data)));
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#waiting?.reject(new ProbeError(`The connection was closed (${code} ${reason}).`));
        resolve({ code, reason: String(reason), atMs: performance.now() });
      });
    });
  }

  /**
   * Opens a WebSocket, and a session that ends with it.
   * @throws {ProbeError} if the server refuses it
   */
  static async connect(
    target: ProbeTarget,
    suffix: string,
    { will, offers }: { readonly will?: Will; readonly offers?: string } = {},
  ): Promise<ProbeClient> {
    const client = new ProbeClient(await openSocket(target));
    const frame = frameOf([
      {
        type: 'connect',
        protocolVersion: 5,
        cleanStart: true,
        keepAliveSeconds: 600,
        clientId: `${target.name}-${suffix}`,
        properties: {},
        ...(will !== undefined && { will }),
      },
    ]);
    const [connack] = await client.#ask(offers === undefined ? frame : `(${offers})${frame}`);
    if (connack?.type === 'connack' && connack.reasonCode === 0) return client;
    const code = connack?.type === 'connack' ? `0x${connack.reasonCode.toString(16)}` : 'no CONNACK';
    throw new ProbeError(`The broker refuses the client (${code}).`);
  }

  /**
   * Moves the session to a new connection; the server closes this one (docs/text-frames.md, section 12).
   *
   * @throws {ProbeError} if the server refuses
   */
  async move(target: ProbeTarget): Promise<ProbeClient> {
    const [ticket] = this.#move?.split(',') ?? [];
    if (ticket === undefined) throw new ProbeError('The deployment does not move sessions.');
    const next = new ProbeClient(await openSocket(target));
    await next.#ask(`~${ticket}`);
    if (next.#move === undefined || next.#move.startsWith('!'))
      throw new ProbeError(
        `The deployment refuses to move a session: ${next.#move?.slice(1) ?? 'no ticket'}.`,
      );
    return next;
  }

  /** Sends a frame of these packets and returns the packets of its reply. @throws {ProbeError} without a reply */
  async exchange(...packets: Packet[]): Promise<readonly Packet[]> {
    return await this.#ask(frameOf(packets));
  }

  async #ask(frame: string): Promise<readonly Packet[]> {
    this.#socket.send(frame);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<readonly Packet[]>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        timer = setTimeout(
          () => reject(new ProbeError('A frame was not answered within 8 s.')),
          REPLY_MS_MAX,
        );
      });
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  /** Sends a frame; with the marker `,` it wants no reply. */
  send(packets: readonly Packet[], marker: '' | ','): void {
    this.#socket.send(`${marker}${frameOf(packets)}`);
  }

  /** @throws {ProbeError} if the token does not allow it */
  async subscribe(topicFilter: string): Promise<void> {
    const [suback] = await this.exchange({
      type: 'subscribe',
      packetId: this.#nextPacketId(),
      subscriptions: [{ topicFilter, qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
      properties: {},
    });
    if (suback?.type === 'suback' && suback.reasonCodes.every((code) => code < 0x80)) return;
    throw new ProbeError('The token has to allow subscribing to apus-probe/#.');
  }

  /** @throws {ProbeError} if the token does not allow it */
  async publish(topic: string, payload: string): Promise<void> {
    const [puback] = await this.exchange(this.publishPacket(topic, payload, 1));
    if (puback?.type === 'puback' && puback.reasonCode < 0x80) return;
    throw new ProbeError('The token has to allow publishing to apus-probe/#.');
  }

  publishPacket(topic: string, payload: string, qos: 0 | 1): PublishPacket {
    return {
      type: 'publish',
      topic,
      payload: Buffer.from(payload),
      qos,
      retain: false,
      dup: false,
      packetId: qos === 0 ? 0 : this.#nextPacketId(),
      properties: {},
    };
  }

  /** Whether the deployment takes an extension that the client has offered. */
  takes(name: string): boolean {
    return this.#extensions.includes(name);
  }

  /** Sends a frame unchanged. */
  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Sends a ping of the WebSocket protocol, which is no message. */
  ping(): void {
    this.#socket.ping();
  }

  /** Sends DISCONNECT, waits for its reply, and closes. */
  async end(): Promise<void> {
    if (this.#socket.readyState === WebSocket.OPEN) {
      await this.exchange({ type: 'disconnect', reasonCode: 0, properties: {} }).catch(() => []);
      this.#socket.close(1000);
    }
    await this.closed;
  }

  /** Sends DISCONNECT and closes at once, without waiting for the answer. */
  leaveAtOnce(): void {
    this.send([{ type: 'disconnect', reasonCode: 0, properties: {} }], '');
    this.#socket.close(1000);
  }

  /** Closes with this code, without a frame before. */
  close(code: number): void {
    this.#socket.close(code);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: string): void {
    this.messages.push(data);
    const frame = readServerFrame(data);
    if (frame.kind === 'error')
      this.#waiting?.reject(new ProbeError(`The gateway has failed: ${frame.text}`));
    if (frame.kind === 'push') this.#packetsOf(frame.bytes);
    if (frame.kind === 'reply') this.#reply = frame;
    if (frame.kind === 'part') this.#parts.push(frame.bytes);
    if (frame.kind === 'reply' || frame.kind === 'part') this.#answer();
  }

  /** A reply is complete when its frame and all its parts have come. Parts may come before the frame. */
  #answer(): void {
    if (this.#reply === undefined || this.#parts.length < this.#reply.parts) return;
    const bytes = Buffer.concat([this.#reply.bytes, ...this.#parts.splice(0)]);
    this.#move = this.#reply.move ?? this.#move;
    this.#extensions = this.#reply.extensions?.split(',') ?? this.#extensions;
    this.#reply = undefined;
    this.#waiting?.resolve(this.#packetsOf(bytes));
  }

  #packetsOf(bytes: Buffer): readonly Packet[] {
    const packets = this.#decoder.push(bytes).filter((each): each is Packet => 'type' in each);
    for (const packet of packets) if (packet.type === 'publish') this.published.push(packet);
    return packets;
  }

  #nextPacketId(): number {
    this.#packetId = (this.#packetId % 65_535) + 1;
    return this.#packetId;
  }
}

function frameOf(packets: readonly Packet[]): string {
  return Buffer.concat(packets.map((packet) => encodePacket(packet, 5))).toString('base64');
}

/** @throws {ProbeError} if the server refuses the handshake */
export async function openSocket(
  { url, token }: ProbeTarget,
  subprotocols: string[] = SUBPROTOCOLS,
): Promise<WebSocket> {
  const address = new URL(url);
  if (token !== undefined) address.searchParams.set('token', token);
  const socket = new WebSocket(address, subprotocols, { handshakeTimeout: HANDSHAKE_MS_MAX });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', (error) =>
      reject(new ProbeError(`Cannot connect to ${shownUrl(url)}: ${reasonOf(error)}`)),
    );
    socket.once('unexpected-response', async (_request, response) => {
      const body = await text(response).catch(() => '');
      const why = body.slice(0, EXPLANATION_LENGTH_MAX);
      reject(
        new ProbeError(`${shownUrl(url)} refuses the handshake: HTTP ${response.statusCode} ${why}`.trim()),
      );
      socket.terminate();
    });
  });
  socket.on('error', () => {});
  return socket;
}
