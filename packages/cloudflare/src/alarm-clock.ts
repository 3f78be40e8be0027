import { systemClock } from '@apus/broker';
import { DueHeap, type Scheduler } from '@apus/door';
import { AWAKE_MS_MAX } from './limits.ts';
import type { ObjectStorage } from './platform.ts';

/** A timer that keeps the object awake. */
export const awakeScheduler: Scheduler = {
  ...systemClock,
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};

/**
 * Timers that the object may sleep through. They stand in memory, and whoever sets one sets it again when the object has
 * lost its memory; the alarm of the object is only a clock that wakes it.
 */
export class AlarmClock implements Scheduler {
  readonly #storage: ObjectStorage;
  readonly #onSet: () => void;
  readonly #due = new DueHeap<() => void>();
  #count = 0;
  /** When the alarm is set to go off. Undefined: it is not. */
  #alarmAtMs: number | undefined;

  /**
   * @param alarmAtMs as the storage has it
   * @param onSet a timer is set, perhaps behind the end of an event: `arm` has to follow
   */
  constructor(storage: ObjectStorage, alarmAtMs: number | null, onSet: () => void) {
    this.#storage = storage;
    this.#onSet = onSet;
    this.#alarmAtMs = alarmAtMs ?? undefined;
  }

  now(): number {
    return Date.now();
  }

  after(delayMs: number, callback: () => void): () => void {
    if (delayMs <= AWAKE_MS_MAX) return awakeScheduler.after(delayMs, callback);
    this.#count += 1;
    const key = String(this.#count);
    this.#due.set(key, this.now() + delayMs, callback);
    this.#onSet();
    return () => this.#due.delete(key);
  }

  /** The alarm has gone off: it is not set any more. */
  rang(): void {
    this.#alarmAtMs = undefined;
  }

  runDue(): void {
    for (let left = this.#due.size; left > 0; left -= 1) {
      const callback = this.#due.takeDue(this.now());
      if (callback === undefined) return;
      callback();
    }
  }

  /** Sets the alarm, and never later than it is set: a stale one wakes the object in vain, a lost one never. */
  arm(): void {
    const dueAtMs = this.#due.nextDueAtMs;
    if (dueAtMs === undefined) return;
    const isStale = this.#alarmAtMs !== undefined && this.#alarmAtMs < this.now() - AWAKE_MS_MAX;
    if (!isStale && this.#alarmAtMs !== undefined && this.#alarmAtMs <= dueAtMs) return;
    this.#alarmAtMs = dueAtMs;
    void this.#storage.setAlarm(dueAtMs);
  }
}
