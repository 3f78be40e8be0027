import type { ObjectSocket, ObjectState } from '../src/index.ts';

declare const WebSocketPair: new () => { 0: ObjectSocket; 1: ObjectSocket };

interface Stub {
  fetch(request: Request): Promise<Response>;
}

const CONNACK = Uint8Array.of(0x20, 3, 0, 0, 0);

/**
 * An object that sends each PUBLISH to the sockets of its topic as it came, and answers it. It is no broker: it knows what
 * the loads of this bench send, decides nothing and keeps nothing, so its time is the runtime's own.
 */
export class BareHub {
  readonly #state: ObjectState;
  readonly #byTopic = new Map<string, ObjectSocket[]>();

  constructor(state: ObjectState) {
    this.#state = state;
  }

  fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#state.acceptWebSocket(server);
    const headers = { 'Sec-WebSocket-Protocol': 'mqtt' };
    return new Response(null, { status: 101, webSocket: client, headers } as ResponseInit);
  }

  webSocketMessage(socket: ObjectSocket, data: ArrayBuffer): void {
    const bytes = new Uint8Array(data);
    const [first = 0] = bytes;
    const type = first >> 4;
    if (type === 1) socket.send(CONNACK);
    if (type === 8) this.#subscribe(socket, bytes);
    if (type === 3) this.#publish(socket, bytes, (first & 6) !== 0);
  }

  webSocketClose(): void {
    // Each round has topics without sockets of the one before.
    this.#byTopic.clear();
  }

  /** Byte 1 is the length, the identifier follows, then no property and one filter. */
  #subscribe(socket: ObjectSocket, bytes: Uint8Array): void {
    const topic = textAt(bytes, 5);
    const sockets = this.#byTopic.get(topic) ?? [];
    this.#byTopic.set(topic, sockets);
    sockets.push(socket);
    socket.send(Uint8Array.of(0x90, 4, bytes[2] ?? 0, bytes[3] ?? 0, 0, 0));
  }

  /** The length takes two bytes. The receiver gets the publisher's identifier. */
  #publish(socket: ObjectSocket, bytes: Uint8Array, isAnswered: boolean): void {
    const topic = textAt(bytes, 3);
    for (const receiver of this.#byTopic.get(topic) ?? []) receiver.send(bytes);
    const idAt = 5 + topic.length;
    if (isAnswered) socket.send(Uint8Array.of(0x40, 2, bytes[idAt] ?? 0, bytes[idAt + 1] ?? 0));
  }
}

const decoder = new TextDecoder();

function textAt(bytes: Uint8Array, at: number): string {
  const length = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  return decoder.decode(bytes.subarray(at + 2, at + 2 + length));
}

interface Environment {
  readonly HUB: { idFromName(name: string): unknown; get(id: unknown): Stub };
}

// biome-ignore lint/style/noDefaultExport: the runtime asks for it
export default {
  fetch: (request: Request, { HUB }: Environment) => HUB.get(HUB.idFromName('bare')).fetch(request),
};
