import type { ClientSocket } from './connection.ts';

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

/** How a connection ended without a close frame. */
const ABNORMAL = 1006;
/** A close frame without a code. */
const NO_STATUS = 1005;

type Listener = (event: never) => void;

/**
 * Both ends of a WebSocket that never leaves this process. Each end receives data one turn after the other has sent it.
 */
export class InProcessSocket {
  readonly url: string;
  protocol = '';
  /** The id that the gateway gave it; set once it is open. */
  connectionId: string | undefined;
  readyState = CONNECTING;
  readonly bufferedAmount = 0;
  /** The gateway's end. */
  readonly far: ClientSocket;
  /** Receives the texts at the gateway's end. */
  onText: (text: string) => void = () => {};
  onEnd: (code: number, reason: string) => void = () => {};
  readonly #listeners = new Map<string, Listener[]>();
  #isPaused = false;

  constructor(url: string) {
    this.url = url;
    const end = (code: number, reason: string) => this.#end(code, reason);
    const send = (text: string) => this.#soon(() => this.#say(text));
    const state = () => this.readyState;
    this.far = {
      bufferedAmount: 0,
      get readyState() {
        return state();
      },
      send,
      // Texts that were sent before arrive first.
      close: (code, reason) => {
        if (this.readyState === OPEN) this.readyState = CLOSING;
        this.#soon(() => end(code, reason));
      },
      terminate: () => end(ABNORMAL, ''),
      pause: () => {
        this.#isPaused = true;
      },
    };
  }

  /** The gateway has accepted it. */
  open(protocol: string): void {
    this.protocol = protocol;
    this.readyState = OPEN;
    this.#soon(() => {
      if (this.readyState === OPEN) this.#emit('open', {});
    });
  }

  /** The gateway has refused it, with an HTTP status. */
  refuse(status: number): void {
    this.#emit('error', { error: new Error(`Unexpected server response: ${status}`) });
    this.#end(ABNORMAL, '');
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(text: string): void {
    this.#soon(() => {
      if (this.readyState === OPEN && !this.#isPaused) this.onText(text);
    });
  }

  close(code = NO_STATUS, reason = ''): void {
    // Texts that were sent before arrive first.
    this.#soon(() => this.#end(code, reason));
  }

  terminate(): void {
    this.#end(ABNORMAL, '');
  }

  #say(text: string): void {
    const isOpen = this.readyState === OPEN || this.readyState === CLOSING;
    if (isOpen && !this.#isPaused) this.#emit('message', { data: text });
  }

  #end(code: number, reason: string): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#soon(() => {
      this.onEnd(code, reason);
      this.#emit('close', { code, reason });
    });
  }

  #soon(run: () => void): void {
    setImmediate(run);
  }

  #emit(type: string, event: object): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
  }
}
