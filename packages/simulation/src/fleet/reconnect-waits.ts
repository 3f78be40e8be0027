/** The rule of waits before reconnects. */
export interface ReconnectRule {
  /** Before the first try a random time up to this. The clients of today have 0. */
  readonly firstWaitSeconds: number;
  /** The longest wait before a later try. */
  readonly secondsMax: number;
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
  const maxSeconds = Math.min(rule.secondsMax, 2 ** attempt);
  return Math.round((SECONDS_MIN + random() * (maxSeconds - SECONDS_MIN)) * 1_000);
}

function firstWaitMs({ firstWaitSeconds }: ReconnectRule, random: () => number): number {
  if (firstWaitSeconds === 0) return AT_ONCE_MS;
  return AT_ONCE_MS + Math.round(random() * firstWaitSeconds * 1_000);
}
