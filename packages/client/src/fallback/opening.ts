import { Alarm } from '../environment.ts';
import { ABNORMAL } from '../limits.ts';
import type { WebSocketClass } from '../web-socket.ts';
import { type Carrier, type CarrierHandler, type Wire, webSocketCarrier } from './carrier.ts';
import { HttpCarrier, type HttpCarrierOptions } from './http-carrier.ts';

/** The facts about the way to a server that outlive a connection. */
export interface Way extends Pick<HttpCarrierOptions, 'path' | 'timers'> {
  /** When no WebSocket opened, by `Timers.now`. Undefined: the last one did. */
  blockedAtMs: number | undefined;
}

export interface OpeningOptions {
  readonly url: string;
  readonly protocols: readonly string[];
  /** mqtt.js's option. */
  readonly wsOptions: { readonly headers?: Record<string, string> } | undefined;
  readonly WebSocket: WebSocketClass;
  readonly way: Way;
  /** HTTP is tried after WebSockets. */
  readonly mayUseHttp: boolean;
}

/** An attempt gets this time for itself; then the next one begins beside it. */
const ALONE_MS = 1_000;
/** The same where WebSockets were blocked lately. */
const ALONE_AGAIN_MS = 500;
/** For so long the blocked WebSocket is remembered. */
const REMEMBERED_MS = 600_000;

/**
 * Opens a carrier: a WebSocket, and another one; then HTTP requests. Each is tried when those before have failed, or have
 * had their time. The first one that opens is used, and the others are ended: so a slow network has its WebSocket, and a
 * proxy that never answers the upgrade costs two seconds.
 */
export class Opening {
  readonly #options: OpeningOptions;
  readonly #handler: CarrierHandler;
  readonly #left: Wire[];
  readonly #alarm: Alarm;
  readonly #begun = new Set<Carrier>();
  #pending = 0;
  #reason = '';
  #isOver = false;

  constructor(options: OpeningOptions, handler: CarrierHandler) {
    this.#options = options;
    this.#handler = handler;
    this.#left = ['websocket'];
    if (options.mayUseHttp) this.#left.push(...(this.#isBlocked ? [] : (['websocket'] as const)), 'http');
    this.#alarm = new Alarm(options.way.timers);
    this.#next();
  }

  /** Ends all attempts. */
  stop(): void {
    this.#isOver = true;
    this.#alarm.clear();
    for (const carrier of this.#begun) carrier.terminate();
    this.#begun.clear();
  }

  get #isBlocked(): boolean {
    const { blockedAtMs, timers } = this.#options.way;
    return blockedAtMs !== undefined && timers.now() - blockedAtMs < REMEMBERED_MS;
  }

  #next(): void {
    const wire = this.#left.shift();
    if (wire === undefined) {
      if (this.#pending === 0) this.#fail();
      return;
    }
    const aloneMs = this.#isBlocked ? ALONE_AGAIN_MS : ALONE_MS;
    this.#pending += 1;
    if (this.#left.length > 0) this.#alarm.set(aloneMs, () => this.#next());
    this.#begin(wire);
  }

  #begin(wire: Wire): void {
    const { url, protocols, wsOptions, WebSocket, way } = this.#options;
    let carrier: Carrier | undefined;
    const handler: CarrierHandler = {
      opened: (opened) => this.#opened(opened),
      received: (bytes) => {
        if (carrier !== undefined && this.#isUsed(carrier)) this.#handler.received(bytes);
      },
      closed: (code, reason) => {
        if (carrier !== undefined && this.#isUsed(carrier)) this.#handler.closed(code, reason);
        else this.#failed(carrier, reason);
      },
    };
    if (wire === 'http') {
      way.blockedAtMs = way.timers.now();
      carrier = new HttpCarrier(url, { ...way, headers: wsOptions?.headers }, handler);
    } else {
      try {
        carrier = webSocketCarrier(WebSocket, url, protocols, wsOptions, way.timers, handler);
      } catch (error) {
        this.#failed(undefined, String(error));
        return;
      }
    }
    this.#begun.add(carrier);
  }

  #used: Carrier | undefined;

  #isUsed(carrier: Carrier): boolean {
    return this.#used === carrier;
  }

  #opened(carrier: Carrier): void {
    if (this.#isOver) {
      carrier.terminate();
      return;
    }
    this.#used = carrier;
    this.#begun.delete(carrier);
    this.stop();
    if (carrier.wire === 'websocket') this.#options.way.blockedAtMs = undefined;
    this.#handler.opened(carrier);
  }

  #failed(carrier: Carrier | undefined, reason: string): void {
    if (carrier !== undefined) this.#begun.delete(carrier);
    this.#pending -= 1;
    this.#reason = reason || this.#reason;
    if (this.#isOver || this.#pending > 0) return;
    this.#alarm.clear();
    this.#next();
  }

  #fail(): void {
    this.#isOver = true;
    this.#handler.closed(ABNORMAL, this.#reason);
  }
}
