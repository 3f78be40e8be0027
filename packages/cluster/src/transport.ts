import type { Engine, Publisher } from '@apus/store-valkey';

/** Carries bytes to other processes. It may lose them, and bring them twice; `Bus` numbers them. */
export interface Transport {
  /** Takes bytes that are sent to this process. Resolves when they come. */
  start(take: (bytes: Buffer) => void): Promise<void>;
  /** The bytes are written to no more. */
  send(process: string, bytes: Buffer): void;
  /** What is sent in the call leaves at once. */
  together(send: () => void): void;
  /** Bytes have not left this process: they may still arrive. */
  readonly isWaiting: boolean;
  /** Resolves when all that was sent has left this process. */
  flushed(): Promise<void>;
}

/**
 * The engine's channels (`PUBLISH`): it writes nothing to its file for them, keeps nothing, and pushes. A process that
 * is not connected to the engine for a moment misses them.
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
