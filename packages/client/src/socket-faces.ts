import type { Timers } from './environment.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Listener = (...args: never[]) => void;
type Face = 'browser' | 'node';
type EventName = 'open' | 'message' | 'error' | 'close' | 'finish';

interface Registration {
  readonly face: Face;
  readonly listener: Listener;
  readonly isOnce: boolean;
}

/**
 * The events of a WebSocket for two kinds of users. mqtt.js uses a browser's WebSocket through `addEventListener`. In
 * Node.js it uses the package `ws` as an event emitter and a stream. mqtt.js decides which of them it uses once per
 * process, for the first client; so this socket offers both.
 */
export class SocketFaces {
  readonly #timers: Timers;
  readonly #registrations = new Map<string, Registration[]>();
  #messages: Bytes[] = [];
  #isPaused = false;
  /** Bytes that a paused stream has not taken yet. */
  bytesWaiting = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  add(face: Face, type: string, listener: Listener, isOnce = false): void {
    this.#registrations.set(type, [...(this.#registrations.get(type) ?? []), { face, listener, isOnce }]);
  }

  remove(type: string, listener: Listener): void {
    const kept = this.#registrations.get(type)?.filter((registration) => registration.listener !== listener);
    this.#registrations.set(type, kept ?? []);
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#pump(false);
  }

  open(): void {
    this.#tell('open', {});
  }

  /** Hands bytes over, or keeps them while the stream is paused. */
  message(bytes: Bytes): void {
    this.#messages.push(bytes);
    this.bytesWaiting += bytes.length;
    this.#pump(false);
  }

  error(error: unknown): void {
    this.#tell('error', { error }, error);
  }

  close(code: number, reason: string): void {
    this.#pump(true);
    // `ws`'s stream waits for its TCP socket to have written everything.
    this.#tell('finish', {});
    const wasClean = code !== 1006;
    this.#tell('close', { code, reason, wasClean }, code, reason);
    this.#registrations.clear();
  }

  #pump(isForced: boolean): void {
    while ((isForced || !this.#isPaused) && this.#messages.length > 0) {
      const bytes = this.#messages.shift();
      if (bytes === undefined) return;
      this.bytesWaiting -= bytes.length;
      this.#tell('message', { data: bytes.buffer }, bytes, true);
    }
  }

  /** A browser's listener gets an event with these fields, a Node.js listener gets the arguments. */
  #tell(type: EventName, fields: object, ...node: readonly unknown[]): void {
    for (const registration of this.#registrations.get(type) ?? []) {
      const { face, listener, isOnce } = registration;
      if (isOnce) this.remove(type, listener);
      try {
        (listener as (...args: readonly unknown[]) => void)(
          ...(face === 'browser' ? [{ type, ...fields }] : node),
        );
      } catch (error) {
        // An application's handler may throw. The error must not stop the transport.
        this.#timers.defer(() => {
          throw error;
        });
      }
    }
  }
}
