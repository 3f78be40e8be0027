import type { FleetWorkload } from './workload.ts';

export interface ReconnectRule {
  /** A client waits before its first try for a random time up to this. Present clients have 0. */
  readonly firstWaitSeconds: number;
  /**
   * A client waits before the nth try for a random time up to 2ⁿ seconds, and at least up to this. Present clients have
   * 0.
   */
  readonly laterWaitSeconds: number;
  /** The longest wait before a later try. */
  readonly secondsMax: number;
}

/** The rule of a workload's later tries. */
export function laterWaitsOf({ laterWaitSeconds, reconnectSecondsMax }: FleetWorkload) {
  return { laterWaitSeconds, secondsMax: reconnectSecondsMax };
}

/** mqtt.js takes 0 for "never". */
const AT_ONCE_MS = 1;

const SECONDS_MIN = 1;

/**
 * The wait before the nth try since the connection was stable, in milliseconds: the rule of `ReconnectPolicy` in
 * packages/client, which this package may not import. A test compares the two.
 */
export function reconnectWaitMs(attempt: number, rule: ReconnectRule, random: () => number): number {
  if (attempt === 1) return firstWaitMs(rule, random);
  const maxSeconds = Math.min(rule.secondsMax, Math.max(rule.laterWaitSeconds, 2 ** attempt));
  return Math.round((SECONDS_MIN + random() * (maxSeconds - SECONDS_MIN)) * 1_000);
}

function firstWaitMs({ firstWaitSeconds }: ReconnectRule, random: () => number): number {
  if (firstWaitSeconds === 0) return AT_ONCE_MS;
  return AT_ONCE_MS + Math.round(random() * firstWaitSeconds * 1_000);
}
