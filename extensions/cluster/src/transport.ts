import type { Engine, Publisher } from './store/index.ts';

/** Sends bytes to other processes. They may be lost, or arrive twice; `Bus` numbers them. */
export interface Transport {
  /** Calls `take` with bytes for this process. Resolves when that has begun. */
  start(take: (bytes: Buffer) => void): Promise<void>;
  /** The caller does not change the bytes any more. */
  send(process: string, bytes: Buffer): void;
  /** Sends at once everything that is sent within the call. */
  together(send: () => void): void;
  /** Bytes have not left this process: they may still arrive. */
  readonly isWaiting: boolean;
  /** Resolves when everything sent has left this process. */
  flushed(): Promise<void>;
}

/**
 * The engine's channels (`PUBLISH`): it writes nothing to its file for them, keeps nothing, and pushes. A process that
 * loses its connection to the engine for a moment misses what is published.
 */
export class EngineTransport implements Transport {
  readonly #engine: Engine;
  readonly #me: string;
  #publisher: Publisher | undefined;

  constructor(engine: Engine, me: string) {
    this.#engine = engine;
    this.#me = me;
  }

  async start(take: (bytes: Buffer) => void): Promise<void> {
    this.#publisher = await this.#engine.publisher();
    await this.#engine.subscribe(this.#channelOf(this.#me), take);
  }

  get isWaiting(): boolean {
    return this.#publisher?.isWaiting === true;
  }

  send(process: string, bytes: Buffer): void {
    this.#publisher?.publish(this.#channelOf(process), bytes);
  }

  together(send: () => void): void {
    if (this.#publisher === undefined) send();
    else this.#publisher.together(send);
  }

  async flushed(): Promise<void> {
    await this.#publisher?.flushed();
  }

  #channelOf(process: string): string {
    return this.#engine.key('to', process);
  }
}
