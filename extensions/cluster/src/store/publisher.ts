import type { Redis } from 'iovalkey';

/**
 * Channels whose commands are cached. If there are more, the whole cache is dropped, including channels of dead
 * processes.
 */
const HEADS_MAX = 1000;

const END = Buffer.from('\r\n');

/**
 * Publishes to channels of the engine without reading its answers, each of which would wake up the process. Bytes are
 * lost while the engine is not connected; the caller handles that.
 */
export class Publisher {
  readonly #client: Redis;
  /** By channel: the command without its last argument. */
  readonly #heads = new Map<string, Buffer>();
  /** Some engines refuse CLIENT REPLY OFF, so their answers are read and dropped. */
  #isAnswered = false;
  #isOpen = false;

  constructor(client: Redis) {
    this.#client = client;
    client.on('close', () => {
      this.#isOpen = false;
    });
    client.on('ready', () => this.#silence());
    if (client.status === 'ready') this.#silence();
  }

  /** Bytes that have not left this process: they may still arrive. */
  get isWaiting(): boolean {
    return this.#isOpen && this.#client.stream.writableLength > 0;
  }

  /** The caller must not change the bytes any more. */
  publish(channel: string, bytes: Buffer): void {
    if (!this.#isOpen) return;
    if (this.#isAnswered) {
      this.#client.publish(channel, bytes).catch(() => {});
      return;
    }
    const { stream } = this.#client;
    stream.cork();
    stream.write(this.#head(channel));
    stream.write(`$${bytes.length}\r\n`, 'latin1');
    stream.write(bytes);
    stream.write(END);
    stream.uncork();
  }

  /** Sends at once everything that is published within the call. */
  together(publish: () => void): void {
    const { stream } = this.#client;
    stream?.cork();
    publish();
    stream?.uncork();
  }

  /** Resolves when the bytes have left this process. */
  async flushed(): Promise<void> {
    if (this.#isOpen) await new Promise<void>((resolve) => this.#client.stream.write('', () => resolve()));
  }

  #silence(): void {
    this.#isOpen = true;
    this.#isAnswered = false;
    // No answer means success. After this command the client library waits for no answer.
    this.#client.call('CLIENT', 'REPLY', 'OFF').catch(() => {
      this.#isAnswered = true;
    });
  }

  #head(channel: string): Buffer {
    let head = this.#heads.get(channel);
    if (head === undefined) {
      if (this.#heads.size >= HEADS_MAX) this.#heads.clear();
      head = Buffer.from(`*3\r\n$7\r\nPUBLISH\r\n$${Buffer.byteLength(channel)}\r\n${channel}\r\n`);
      this.#heads.set(channel, head);
    }
    return head;
  }
}
