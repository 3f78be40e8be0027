import type { Clock } from '@apus/emulator/service';
import type { SqsLimits } from './limits.ts';
import type { QueueSettings } from './queue-options.ts';

const SECOND_MS = 1000;

/** The quotas of a FIFO queue, by the second. A standard queue has none that a test would reach. */
export class Throughput {
  readonly #clock: Clock;
  readonly #settings: QueueSettings;
  readonly #limits: SqsLimits;
  #second = 0;
  #used = new Map<string, number>();

  constructor(clock: Clock, settings: QueueSettings, limits: SqsLimits) {
    this.#clock = clock;
    this.#settings = settings;
    this.#limits = limits;
  }

  /**
   * Counts a call. The quota is by call; in high throughput it is by call for each group, and by message for the queue.
   * False if the quota of this second is used up.
   */
  takes(action: string, groupIds: readonly string[] = []): boolean {
    const { fifo, fifoThroughputLimit, throttled } = this.#settings;
    if (!throttled || !fifo) return true;
    this.#turn();
    // A batch counts with the call that it replaces.
    const method = action.replace(/Batch$/, '');
    const limits = this.#limits;
    if (fifoThroughputLimit === 'perQueue') return this.#take([method], 1, limits.fifoCallsPerSecond);
    const messages = Math.max(1, groupIds.length);
    if (!this.#take([method], messages, limits.fifoMessagesPerSecond)) return false;
    const keys = [...new Set(groupIds)].map((id) => `${method} ${id}`);
    return this.#take(keys, 1, limits.fifoCallsPerGroupAndSecond);
  }

  #turn(): void {
    const second = Math.floor(this.#clock.now() / SECOND_MS);
    if (second === this.#second) return;
    this.#second = second;
    this.#used = new Map();
  }

  /** Takes all or none. */
  #take(keys: readonly string[], amount: number, max: number): boolean {
    const used = keys.map((key) => (this.#used.get(key) ?? 0) + amount);
    if (used.some((sum) => sum > max)) return false;
    keys.forEach((key, index) => {
      this.#used.set(key, used[index] ?? 0);
    });
    return true;
  }
}
