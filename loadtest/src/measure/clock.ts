/** Timestamps in payloads are 48 bits of microseconds. */
const TIMESTAMP_RANGE = 2 ** 48;

/**
 * The clock for timestamps. `monotonic` is the same for all processes of a machine and never steps; `wall` is for
 * several machines, and as exact as NTP keeps them.
 */
export type ClockName = 'monotonic' | 'wall';

/** Microseconds, modulo 2^48. */
export type MicrosNow = () => number;

export function clockOf(name: ClockName): MicrosNow {
  return name === 'wall' ? wallMicros : monotonicMicros;
}

export function monotonicMicros(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds * 1_000_000 + Math.floor(nanoseconds / 1_000)) % TIMESTAMP_RANGE;
}

export function wallMicros(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1_000) % TIMESTAMP_RANGE;
}

/** Microseconds from one timestamp to a later one, across the wrap; 0 if clocks disagree about the order. */
export function microsBetween(from: number, to: number): number {
  const elapsed = (to - from + TIMESTAMP_RANGE) % TIMESTAMP_RANGE;
  return elapsed < TIMESTAMP_RANGE / 2 ? elapsed : 0;
}
