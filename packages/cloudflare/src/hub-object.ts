import { admit, subprotocolOf } from './handshake.ts';
import { Hub } from './hub.ts';
import type { HubOptions } from './options.ts';
import type { ObjectSocket, ObjectState } from './platform.ts';

declare const WebSocketPair: new () => { 0: ObjectSocket; 1: ObjectSocket };

/** The handlers of a Durable Object over a hub. */
export class HubObject {
  readonly #state: ObjectState;
  readonly #options: () => HubOptions;
  #alarmAtMs: number | null = null;
  #hub: Hub | undefined;

  /** @param options what the object is configured with, from its environment or its storage */
  constructor(state: ObjectState, options: () => HubOptions) {
    this.#state = state;
    this.#options = options;
    void state.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = await state.storage.getAlarm();
    });
  }

  /** Read from the storage with the first event after the object has lost its memory. */
  get hub(): Hub {
    this.#hub ??= new Hub(this.#state, this.#options(), this.#alarmAtMs);
    return this.#hub;
  }

  /** Opens the connection of a request, or refuses it. */
  async connect(request: Request): Promise<Response> {
    const peer = await admit(request, this.hub.handshake);
    if (peer instanceof Response) return peer;
    if (!this.hub.makePlace()) return new Response('This hub has no room.', { status: 503 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#state.acceptWebSocket(server);
    this.hub.accepted(server, peer);
    const headers = { 'Sec-WebSocket-Protocol': subprotocolOf(request) ?? '' };
    const upgraded = { status: 101, webSocket: client, headers };
    return new Response(null, upgraded as ResponseInit);
  }

  webSocketMessage(socket: ObjectSocket, data: ArrayBuffer | string): void {
    this.hub.received(socket, data);
  }

  webSocketClose(socket: ObjectSocket, code: number, reason: string): void {
    this.hub.closed(socket, `the client closed with ${code} ${reason}`.trimEnd());
  }

  webSocketError(socket: ObjectSocket, error: unknown): void {
    this.hub.closed(socket, String(error));
  }

  alarm(): void {
    this.hub.alarmRang();
  }
}
