import { createFallback, type Fallback } from '@apus/client/fallback';
import type { Wire, WireEvents } from './wire.ts';

type Socket = ReturnType<Fallback['createWebsocket']>;

/** A WebSocket class as behind a proxy that refuses each upgrade. */
export class BlockedWebSocket extends EventTarget {
  readonly protocol = '';
  readonly bufferedAmount = 0;

  constructor() {
    super();
    setImmediate(() => this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' })));
  }

  send(): void {}

  close(): void {}
}

/** MQTT in HTTP requests. */
export class HttpWire implements Wire {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(
    url: string,
    events: WireEvents,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpWire> {
    const { createWebsocket } = createFallback({ WebSocket: BlockedWebSocket });
    const socket = createWebsocket(url, ['mqtt'], { wsOptions: { headers } });
    socket.on('message', (bytes: Uint8Array) => events.received(Buffer.from(bytes)));
    socket.on('close', (code: number) => events.closed(code));
    await new Promise<void>((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
      socket.on('close', reject);
    });
    return new HttpWire(socket);
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  sendText(): void {
    throw new Error('The fallback has no text frames');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
