import type { ConnectionId } from '@apus/broker';

/** A connection that was given up is not waited for again within this time. */
const REMEMBERED_MS = 10_000;

/** Connections beyond this number are not remembered: each is waited for once more. */
const REMEMBERED_MAX = 10_000;

/** Connections that have lately refused posts. With QoS 0 they stay open, and must not cost a wait each time. */
export class SlowConsumers {
  readonly #untilMs = new Map<ConnectionId, number>();

  remember(connectionId: ConnectionId, nowMs: number): void {
    if (this.#untilMs.size >= REMEMBERED_MAX) this.#untilMs.clear();
    this.#untilMs.set(connectionId, nowMs + REMEMBERED_MS);
  }

  has(connectionId: ConnectionId, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(connectionId);
    if (untilMs === undefined || untilMs > nowMs) return untilMs !== undefined;
    this.#untilMs.delete(connectionId);
    return false;
  }
}
