import { BILLED_REQUEST_BYTES } from './limits.ts';

export type QueueKind = 'standard' | 'fifo';

/** Requests of one action. */
export interface SqsRequestTally {
  count: number;
  /** Counted by each 64 KB of payload begun, at least one, as SQS bills. */
  billed: number;
  /** Bodies and attributes of the messages that were sent, or received. */
  bytes: number;
  /** Receives that brought nothing, which are billed all the same. */
  empty: number;
}

export interface SqsSnapshot {
  /** By kind of queue and action, those of event source mappings included. */
  readonly requests: Readonly<Record<QueueKind, Readonly<Record<string, SqsRequestTally>>>>;
  /** Empty polls of event source mappings: five pollers each, twenty seconds a poll, as time passes. */
  readonly idlePolls: Readonly<Record<QueueKind, number>>;
  /** All together, as it is billed. */
  readonly billed: Readonly<Record<QueueKind, number>>;
}

/** Counts what SQS bills. */
export class SqsTally {
  /** Evaluated at each snapshot: idle polls depend on time. */
  readonly #idlePollers: { readonly kind: QueueKind; readonly polls: () => number }[] = [];
  #requests: Record<QueueKind, Record<string, SqsRequestTally>> = { standard: {}, fifo: {} };
  #pollsBefore: number[] = [];

  reset(): void {
    this.#requests = { standard: {}, fifo: {} };
    this.#pollsBefore = this.#idlePollers.map(({ polls }) => polls());
  }

  snapshot(): SqsSnapshot {
    const idlePolls = { standard: 0, fifo: 0 };
    this.#idlePollers.forEach(({ kind, polls }, index) => {
      idlePolls[kind] += polls() - (this.#pollsBefore[index] ?? 0);
    });
    const billed = { standard: idlePolls.standard, fifo: idlePolls.fifo };
    for (const kind of ['standard', 'fifo'] as const) {
      for (const tally of Object.values(this.#requests[kind])) billed[kind] += tally.billed;
    }
    return { requests: structuredClone(this.#requests), idlePolls, billed };
  }

  request(kind: QueueKind, action: string, bytes = 0, isEmpty = false): void {
    const tally = this.#requests[kind][action] ?? { count: 0, billed: 0, bytes: 0, empty: 0 };
    this.#requests[kind][action] = tally;
    tally.count += 1;
    tally.billed += Math.max(1, Math.ceil(bytes / BILLED_REQUEST_BYTES));
    tally.bytes += bytes;
    if (isEmpty) tally.empty += 1;
  }

  /** @param polls how many there were until now */
  addIdlePoller(kind: QueueKind, polls: () => number): void {
    this.#idlePollers.push({ kind, polls });
  }
}
