import type { Clock } from './clock/clock.ts';
import { BILLED_MESSAGE_BYTES } from './limits.ts';

/** Messages of one kind. */
export interface MessageTally {
  count: number;
  /** Counted for each 32 KB begun, as API Gateway bills. */
  billed: number;
  bytes: number;
}

export interface InvocationTally {
  count: number;
  /** Thrown errors, and invalid results. */
  errors: number;
  timeouts: number;
  billedMilliseconds: number;
}

/** The billed counts since the start or the last `reset()`. */
export interface CountersSnapshot {
  readonly messages: {
    readonly in: MessageTally;
    readonly replies: MessageTally;
    readonly posts: MessageTally;
    /** The gateway's own error frames. */
    readonly errors: MessageTally;
  };
  readonly connections: {
    readonly opened: number;
    readonly refused: number;
    readonly open: number;
    /** Time of all connections together, including open ones. */
    readonly milliseconds: number;
  };
  /** By route key; `authorizer` for the authorizer; by the function's name for event sources and schedules. */
  readonly invocations: Readonly<Record<string, InvocationTally>>;
  readonly lambda: {
    readonly invocations: number;
    /** INIT included, which is billed since August 2025. */
    readonly billedMilliseconds: number;
    readonly gigabyteSeconds: number;
    readonly coldStarts: number;
    readonly initMilliseconds: number;
  };
  /** By method and status, as `POST 200`. */
  readonly managementCalls: Readonly<Record<string, number>>;
  /** By name: faults that have struck, and other events that a test expects to be zero. */
  readonly events: Readonly<Record<string, number>>;
}

export type MessageKind = keyof CountersSnapshot['messages'];
export type InvocationEnd = 'returned' | 'error' | 'timeout';

export class Counters {
  readonly #clock: Clock;
  readonly #openedAtMs = new Map<string, number>();
  #messages = emptyMessages();
  #connections = { opened: 0, refused: 0, milliseconds: 0 };
  #invocations: Record<string, InvocationTally> = {};
  #lambda = { invocations: 0, billedMilliseconds: 0, gigabyteSeconds: 0, coldStarts: 0, initMilliseconds: 0 };
  #managementCalls: Record<string, number> = {};
  #events: Record<string, number> = {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts from nothing again. Connections that are open go on, billed from now. */
  reset(): void {
    this.#messages = emptyMessages();
    this.#connections = { opened: 0, refused: 0, milliseconds: 0 };
    this.#invocations = {};
    this.#lambda = {
      invocations: 0,
      billedMilliseconds: 0,
      gigabyteSeconds: 0,
      coldStarts: 0,
      initMilliseconds: 0,
    };
    this.#managementCalls = {};
    this.#events = {};
    for (const id of this.#openedAtMs.keys()) this.#openedAtMs.set(id, this.#clock.now());
  }

  /** A copy that later events do not change. */
  snapshot(): CountersSnapshot {
    return structuredClone({
      messages: this.#messages,
      connections: {
        ...this.#connections,
        open: this.#openedAtMs.size,
        milliseconds: this.#connections.milliseconds + this.#openMilliseconds(),
      },
      invocations: this.#invocations,
      lambda: this.#lambda,
      managementCalls: this.#managementCalls,
      events: this.#events,
    });
  }

  message(kind: MessageKind, bytes: number): void {
    const tally = this.#messages[kind];
    tally.count += 1;
    tally.billed += Math.max(1, Math.ceil(bytes / BILLED_MESSAGE_BYTES));
    tally.bytes += bytes;
  }

  connectionOpened(connectionId: string): void {
    this.#connections.opened += 1;
    this.#openedAtMs.set(connectionId, this.#clock.now());
  }

  connectionClosed(connectionId: string): void {
    const openedAtMs = this.#openedAtMs.get(connectionId);
    if (openedAtMs === undefined) return;
    this.#openedAtMs.delete(connectionId);
    this.#connections.milliseconds += this.#clock.now() - openedAtMs;
  }

  connectionRefused(): void {
    this.#connections.refused += 1;
  }

  coldStart(milliseconds: number, memoryMegabytes: number): void {
    this.#lambda.coldStarts += 1;
    this.#lambda.initMilliseconds += milliseconds;
    this.#bill(milliseconds, memoryMegabytes);
  }

  invocation(route: string, end: InvocationEnd, milliseconds: number, memoryMegabytes: number): void {
    this.#invocations[route] ??= { count: 0, errors: 0, timeouts: 0, billedMilliseconds: 0 };
    const tally = this.#invocations[route];
    // Lambda rounds up to the next millisecond, and no invocation is free, even with a clock that stands still.
    const billed = Math.max(1, Math.ceil(milliseconds));
    tally.count += 1;
    tally.billedMilliseconds += billed;
    if (end === 'error') tally.errors += 1;
    if (end === 'timeout') tally.timeouts += 1;
    this.#lambda.invocations += 1;
    this.#bill(billed, memoryMegabytes);
  }

  managementCall(method: string, status: number): void {
    const key = `${method} ${status}`;
    this.#managementCalls[key] = (this.#managementCalls[key] ?? 0) + 1;
  }

  event(name: string): void {
    this.#events[name] = (this.#events[name] ?? 0) + 1;
  }

  #bill(milliseconds: number, memoryMegabytes: number): void {
    this.#lambda.billedMilliseconds += milliseconds;
    this.#lambda.gigabyteSeconds += (milliseconds / 1000) * (memoryMegabytes / 1024);
  }

  #openMilliseconds(): number {
    const nowMs = this.#clock.now();
    let milliseconds = 0;
    for (const openedAtMs of this.#openedAtMs.values()) milliseconds += nowMs - openedAtMs;
    return milliseconds;
  }
}

function emptyMessages(): Record<MessageKind, MessageTally> {
  const none = () => ({ count: 0, billed: 0, bytes: 0 });
  return { in: none(), replies: none(), posts: none(), errors: none() };
}
