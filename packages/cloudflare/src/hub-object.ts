import { apiNoteIn, connectNoteIn } from './front-note.ts';
import { MQTT_PATH, subprotocolOf } from './handshake.ts';
import { Hub } from './hub.ts';
import { answerSleepingPing } from './links/sleeping-ping.ts';
import type { HubOptions } from './options.ts';
import type { HubPeer } from './own-tenant.ts';
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

  /** A request of the Worker in front, which has checked what it carries. */
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== MQTT_PATH)
      return await this.hub.answer(request, apiNoteIn(request));
    return this.connect(request, connectNoteIn(request));
  }

  /** Opens the connection of a request. */
  connect(request: Request, peer: HubPeer): Response {
    if (!this.hub.makePlace()) return new Response('This hub has no room.', { status: 503 });
    if (this.hub.isBanned(peer)) return new Response('This address has been banned.\n', { status: 403 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#state.acceptWebSocket(server);
    this.hub.accepted(server, peer);
    const headers = { 'Sec-WebSocket-Protocol': subprotocolOf(request) ?? '' };
    const upgraded = { status: 101, webSocket: client, headers };
    return new Response(null, upgraded as ResponseInit);
  }

  webSocketMessage(socket: ObjectSocket, data: ArrayBuffer | string): void {
    const isAnswered =
      this.#hub === undefined && answerSleepingPing(socket, data, this.#alarmAtMs, Date.now());
    if (!isAnswered) this.hub.received(socket, data);
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
