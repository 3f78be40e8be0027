import FlatQueue from 'flatqueue';
import { vi } from 'vitest';

/** Longer delays are 1 ms, as in Node.js. */
const DELAY_MS_MAX = 2_147_483_647;

/** The timers of one moment, in the order in which they were set; immediates come before the others. */
interface Moment {
  readonly immediates: VirtualTimer[];
  readonly timers: VirtualTimer[];
}

/** The return value of `setTimeout`, `setInterval` and `setImmediate`. */
class VirtualTimer {
  /** The moment has changed: the clock skips the entry here. */
  dueMs = 0;
  isSet = true;
  readonly call: () => void;
  readonly periodMs: number | undefined;
  readonly #clock: VirtualClock;
  readonly #delayMs: number;
  #hasRef = true;

  constructor(clock: VirtualClock, call: () => void, delayMs: number, periodMs?: number) {
    this.call = call;
    this.periodMs = periodMs;
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    this.#clock.add(this, this.#delayMs);
    return this;
  }

  close(): this {
    this.isSet = false;
    return this;
  }

  [Symbol.dispose](): void {
    this.isSet = false;
  }
}

type Call = (...args: unknown[]) => void;

/**
 * The timers, the date and `performance.now` of this process, moved by hand. Vitest's fake timers search all timers for
 * the next one, which took a third of the time of tests with many clients.
 */
export class VirtualClock {
  #nowMs: number;
  readonly #startMs: number;
  readonly #queue = new FlatQueue<number>();
  readonly #moments = new Map<number, Moment>();
  /** While a timer's callback runs, timers without a delay are due one millisecond later, so that time advances. */
  #isCalling = false;
  readonly #replaced: (() => void)[] = [];

  /** @param nowMs since 1970 */
  constructor(nowMs: number) {
    this.#nowMs = nowMs;
    this.#startMs = nowMs;
    vi.useFakeTimers({ now: nowMs, toFake: ['Date'] });
    const set = (call: Call, delay: unknown, args: unknown[], isPeriodic: boolean): VirtualTimer => {
      const delayMs = msOf(delay);
      const timer = new VirtualTimer(
        this,
        () => call(...args),
        delayMs,
        isPeriodic ? Math.max(1, delayMs) : undefined,
      );
      this.add(timer, delayMs);
      return timer;
    };
    const clear = (timer: unknown): void => {
      if (timer instanceof VirtualTimer) timer.isSet = false;
    };
    this.#replace(globalThis, {
      setTimeout: (call: Call, delay?: unknown, ...args: unknown[]) => set(call, delay, args, false),
      setInterval: (call: Call, delay?: unknown, ...args: unknown[]) => set(call, delay, args, true),
      setImmediate: (call: Call, ...args: unknown[]) => {
        const timer = new VirtualTimer(this, () => call(...args), 0);
        timer.dueMs = this.#momentAfter(0);
        this.#momentAt(timer.dueMs).immediates.push(timer);
        return timer;
      },
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    this.#replace(performance, { now: () => this.#nowMs - this.#startMs, timeOrigin: nowMs });
  }

  /** In milliseconds since 1970. */
  get nowMs(): number {
    return this.#nowMs;
  }

  add(timer: VirtualTimer, delayMs: number): void {
    timer.isSet = true;
    timer.dueMs = this.#momentAfter(delayMs);
    this.#momentAt(timer.dueMs).timers.push(timer);
  }

  /** Calls all timers of the next moment that has one, one after the other. */
  next(): void {
    let hasCalled = false;
    for (let nextMs = this.#queue.peekValue(); nextMs !== undefined; nextMs = this.#queue.peekValue()) {
      const moment = this.#momentAt(nextMs);
      const timer = moment.immediates.shift() ?? moment.timers.shift();
      if (timer === undefined) {
        this.#queue.pop();
        this.#moments.delete(nextMs);
        if (hasCalled) return;
      } else if (timer.isSet && timer.dueMs === nextMs) {
        hasCalled = true;
        this.#call(timer);
      }
    }
  }

  /** Restores the machine's time. */
  restore(): void {
    for (const putBack of this.#replaced.splice(0)) putBack();
    vi.useRealTimers();
  }

  #call(timer: VirtualTimer): void {
    if (timer.dueMs !== this.#nowMs) {
      this.#nowMs = timer.dueMs;
      vi.setSystemTime(timer.dueMs);
    }
    if (timer.periodMs === undefined) timer.isSet = false;
    else this.add(timer, timer.periodMs);
    this.#isCalling = true;
    try {
      timer.call();
    } finally {
      this.#isCalling = false;
    }
  }

  #momentAfter(delayMs: number): number {
    return this.#nowMs + (delayMs === 0 && this.#isCalling ? 1 : delayMs);
  }

  #momentAt(ms: number): Moment {
    let moment = this.#moments.get(ms);
    if (moment === undefined) {
      moment = { immediates: [], timers: [] };
      this.#moments.set(ms, moment);
      this.#queue.push(ms, ms);
    }
    return moment;
  }

  #replace(of: object, own: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(own)) {
      const before = Object.getOwnPropertyDescriptor(of, name);
      Object.defineProperty(of, name, { value, configurable: true, writable: true, enumerable: true });
      this.#replaced.push(() => {
        if (before === undefined) Reflect.deleteProperty(of, name);
        else Object.defineProperty(of, name, before);
      });
    }
  }
}

/** As `setTimeout` takes it. */
function msOf(delay: unknown): number {
  const ms = Math.trunc(Number(delay ?? 0)) || 0;
  return ms > DELAY_MS_MAX ? 1 : Math.max(0, ms);
}
