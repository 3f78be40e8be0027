/** Whose time a history takes: one that it moves itself, or the machine's. */
export interface HistoryTime {
  /** Since the beginning. */
  readonly nowMs: number;
  advance(ms: number): Promise<void>;
  /** Resolves or rejects as the promise does; rejects after so much time. */
  during<T>(promise: Promise<T>, msMax?: number): Promise<T>;
}
