import type { WebSocketClass } from './web-socket.ts';

/** The clock and the timers. Tests replace them. */
export interface Timers {
  /** Milliseconds since 1970. The clock is not monotonic: monotonic clocks stop while a computer sleeps. */
  now(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
  /** Calls back after all events that are being handled now, without the delay of a timer. */
  defer(callback: () => void): void;
}

/** The part of `window` and `document` that the transport listens to. */
export interface EventSource {
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
  readonly visibilityState?: string;
}

interface Port {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** Globals that may exist in a browser, a worker or Node.js. */
export const globals = globalThis as unknown as {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly MessageChannel?: new () => { readonly port1: Port; readonly port2: Port };
  readonly document?: EventSource;
  readonly addEventListener?: EventSource['addEventListener'];
  readonly WebSocket?: WebSocketClass;
};

/** Browsers slow the timers of hidden pages down to one a minute, but they deliver messages at once. */
function defer(callback: () => void): void {
  if (globals.setImmediate !== undefined) {
    globals.setImmediate(callback);
  } else if (globals.MessageChannel !== undefined) {
    const { port1, port2 } = new globals.MessageChannel();
    port1.onmessage = () => {
      port1.close();
      callback();
    };
    port2.postMessage(undefined);
  } else {
    setTimeout(callback, 0);
  }
}

export const systemTimers: Timers = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  defer,
};

/** One timer that can be set again and cleared. */
export class Alarm {
  readonly #timers: Timers;
  #timer: unknown;
  isSet = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  set(milliseconds: number, callback: () => void): void {
    this.clear();
    this.isSet = true;
    this.#timer = this.#timers.setTimeout(() => {
      this.isSet = false;
      callback();
    }, milliseconds);
  }

  clear(): void {
    if (this.isSet) this.#timers.clearTimeout(this.#timer);
    this.isSet = false;
  }
}
