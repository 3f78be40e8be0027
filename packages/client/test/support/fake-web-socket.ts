import type { WebSocketLike } from '../../src/index.ts';
import { type ClientFrame, readClientFrame } from './client-frame.ts';

type Listener = (event: object) => void;

/** The gateway's end of a socket, played by a test. */
export class FakeWebSocket implements WebSocketLike {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly options: object | undefined;
  readonly texts: string[] = [];
  /** The binary messages of the client. */
  readonly binaries: Uint8Array[] = [];
  binaryType = 'blob';
  readonly #listeners = new Map<string, Listener[]>();
  protocol = '';
  bufferedAmount = 0;
  closedWith: { code: number | undefined; reason: string | undefined } | undefined;

  constructor(url: string, protocols: string[], options?: object) {
    this.url = url;
    this.protocols = protocols;
    this.options = options;
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener as Listener]);
  }

  send(data: string | Uint8Array): void {
    if (this.closedWith !== undefined) throw new Error('sent to a closed socket');
    if (typeof data === 'string') this.texts.push(data);
    else this.binaries.push(data);
  }

  close(code?: number, reason?: string): void {
    this.closedWith ??= { code, reason };
  }

  /** The frames that the client sent, each read strictly. */
  get frames(): ClientFrame[] {
    return this.texts.map((text) => {
      const frame = readClientFrame(text);
      if (frame === undefined) throw new Error(`not a client frame: ${text.slice(0, 60)}`);
      return frame;
    });
  }

  get lastText(): string | undefined {
    return this.texts.at(-1);
  }

  open(protocol = 'mqtt-text-v1'): void {
    this.protocol = protocol;
    this.#tell('open', {});
  }

  say(data: unknown): void {
    this.#tell('message', { data });
  }

  end(code: number, reason = ''): void {
    this.#tell('close', { code, reason });
  }

  fail(error: Error): void {
    this.failSilently(error);
    this.end(1006);
  }

  /** Node.js 22 emits no close for a handshake that fails. */
  failSilently(error: Error): void {
    this.#tell('error', { error });
  }

  #tell(type: string, event: object): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
}
