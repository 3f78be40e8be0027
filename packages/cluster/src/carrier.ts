import type { Engine } from '@apus/store-valkey';

/** Carries bytes to other processes. It may lose them, and bring them twice; `Bus` numbers them. */
export interface Carrier {
  /** Takes bytes that are sent to this process. Settles when they come. */
  start(take: (bytes: Buffer) => void): Promise<void>;
  /** Settles when the bytes are no longer on their way from here: they have been carried, or are lost. */
  send(process: string, bytes: Buffer): Promise<void>;
  /** What is sent in the call leaves together. */
  together(send: () => void): void;
  /** Settles when all that was sent has been carried. */
  flushed(): Promise<void>;
}

/**
 * The engine's channels (`PUBLISH`): it writes nothing to its file for them, keeps nothing, and pushes. A process that
 * is not connected to the engine for a moment misses them.
 */
export class EngineCarrier implements Carrier {
  readonly #engine: Engine;
  readonly #me: string;

  constructor(engine: Engine, me: string) {
    this.#engine = engine;
    this.#me = me;
  }

  async start(take: (bytes: Buffer) => void): Promise<void> {
    const client = await this.#engine.connection();
    client.on('messageBuffer', (_: Buffer, bytes: Buffer) => take(bytes));
    await client.subscribe(this.#channel(this.#me));
  }

  async send(process: string, bytes: Buffer): Promise<void> {
    await this.#engine.client.publish(this.#channel(process), bytes);
  }

  together(send: () => void): void {
    const { stream } = this.#engine.client;
    stream?.cork();
    send();
    stream?.uncork();
  }

  async flushed(): Promise<void> {
    await this.#engine.client.ping();
  }

  #channel(process: string): string {
    return this.#engine.key('to', process);
  }
}
