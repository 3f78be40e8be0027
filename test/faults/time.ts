/** The time of a history: one that it moves itself, or the machine's. */
export interface HistoryTime {
  /** Since the beginning. */
  readonly nowMs: number;
  advance(ms: number): Promise<void>;
  /** Resolves or rejects like the promise; rejects after this time. */
  during<T>(promise: Promise<T>, msMax?: number): Promise<T>;
}
