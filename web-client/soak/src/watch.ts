import { setTimeout as delay } from 'node:timers/promises';
import type { ClientPage } from './client-page.ts';
import { highest } from './statistics.ts';
import type { Second } from './verdict.ts';
import { mebibytes, milliseconds } from './words.ts';

/**
 * The interval of memory measurements. A forced collection stops the page, which users never experience; in between the
 * frames that they do experience are measured.
 */
const COLLECT_EVERY_SECONDS = 20;

const TOLD_EVERY_SECONDS = 20;

/** Watches a page, second by second. */
export class Watch {
  readonly #client: ClientPage;
  readonly #seconds: Second[] = [];

  constructor(client: ClientPage) {
    this.#client = client;
  }

  get seconds(): readonly Second[] {
    return this.#seconds;
  }

  async next(view: string): Promise<void> {
    const beganAtMs = performance.now();
    const threadSeconds = await this.#client.threadSeconds();
    await delay(1_000);
    const threadMs = ((await this.#client.threadSeconds()) - threadSeconds) * 1_000;
    const { frames, longTasks, latencies } = await this.#client.drain();
    const elapsedMs = performance.now() - beganAtMs;
    const isCollected = (this.#seconds.length + 1) % COLLECT_EVERY_SECONDS === 0;
    this.#seconds.push({
      view,
      frames,
      longTasks,
      latencies,
      elapsedMs,
      threadMs,
      heapBytes: isCollected ? await this.#client.heapBytes() : undefined,
      residentBytes: isCollected ? this.#client.residentBytes() : undefined,
    });
    // Frames that waited for the collection do not count.
    if (isCollected) await this.#client.drain();
    if (this.#seconds.length % TOLD_EVERY_SECONDS === 0) this.#tell(view);
  }

  #tell(view: string): void {
    const longest = highest(this.#seconds.slice(-TOLD_EVERY_SECONDS).flatMap(({ frames }) => frames));
    const heapBytes = this.#seconds.findLast((second) => second.heapBytes !== undefined)?.heapBytes ?? 0;
    process.stderr.write(
      `${this.#seconds.length} s, ${view}: longest frame ${milliseconds(longest)}, heap ${mebibytes(heapBytes)}\n`,
    );
  }
}
