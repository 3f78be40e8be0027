import { LoadedConditions } from '@apus/door';
import { apiNoteIn, connectNoteIn } from './front-note.ts';
import { MQTT_PATH, subprotocolOf } from './handshake.ts';
import { Hub } from './hub.ts';
import { answerSleepingPing } from './links/sleeping-ping.ts';
import type { HubOptions } from './options.ts';
import type { HubPeer } from './own-tenant.ts';
import type { ObjectSocket, ObjectState } from './platform.ts';
import { hasConditions } from './storage/records.ts';

declare const WebSocketPair: new () => { 0: ObjectSocket; 1: ObjectSocket };

/** The handlers of a Durable Object over a hub. */
export class HubObject {
  readonly #state: ObjectState;
  readonly #options: () => HubOptions;
  readonly #conditions = new LoadedConditions();
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
    this.#hub ??= new Hub(this.#state, this.#options(), this.#alarmAtMs, this.#conditions);
    return this.#hub;
  }

  /**
   * Loads what evaluates conditions before a hub is read whose subscriptions have some: the event, and those behind it,
   * wait. Undefined: nothing has to be loaded. To be called before `hub` is asked for.
   */
  prepare(): Promise<void> | undefined {
    if (this.#hub !== undefined || !hasConditions(this.#state.storage)) return undefined;
    return this.#state.blockConcurrencyWhile(() => this.#conditions.load());
  }

  /** A request of the Worker in front, which has checked what it carries. */
  async fetch(request: Request): Promise<Response> {
    const preparing = this.prepare();
    if (preparing !== undefined) await preparing;
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

  webSocketMessage(socket: ObjectSocket, data: ArrayBuffer | string): Promise<void> | undefined {
    const isAnswered =
      this.#hub === undefined && answerSleepingPing(socket, data, this.#alarmAtMs, Date.now());
    return isAnswered ? undefined : this.#whenPrepared((hub) => hub.received(socket, data));
  }

  webSocketClose(socket: ObjectSocket, code: number, reason: string): Promise<void> | undefined {
    const why = `the client closed with ${code} ${reason}`.trimEnd();
    return this.#whenPrepared((hub) => hub.closed(socket, why));
  }

  webSocketError(socket: ObjectSocket, error: unknown): Promise<void> | undefined {
    return this.#whenPrepared((hub) => hub.closed(socket, String(error)));
  }

  alarm(): Promise<void> | undefined {
    return this.#whenPrepared((hub) => hub.alarmRang());
  }

  /** In the turn of the event, unless something has to be loaded. */
  #whenPrepared(work: (hub: Hub) => void): Promise<void> | undefined {
    const preparing = this.prepare();
    if (preparing !== undefined) return preparing.then(() => work(this.hub));
    work(this.hub);
    return undefined;
  }
}
