import { describe, expect, it } from 'vitest';
import { RECONNECT_SECONDS_MAX } from '../../../../packages/client/src/limits.ts';
import { ReconnectPolicy } from '../../../../packages/client/src/reconnect-policy.ts';
import { FLEET_FIELDS, Random, reconnectWaitMs } from '../../src/index.ts';

const secondsMax = FLEET_FIELDS.reconnectSecondsMax.preset ?? 0;

describe('the waits before reconnects', () => {
  it('are those of the client, whose limit is the default here', () => {
    expect(secondsMax).toBe(RECONNECT_SECONDS_MAX);
    const [theirs, ours] = [new Random(7), new Random(7)];
    const policy = new ReconnectPolicy(() => theirs.next());
    // The connection that was cut was a stable one.
    policy.begin();
    const waits = [policy.stable(), ...Array.from({ length: 12 }, () => policy.begin())];
    const rule = { firstWaitSeconds: 0, laterWaitSeconds: 0, secondsMax };
    expect(waits.map((_, index) => reconnectWaitMs(index + 1, rule, () => ours.next()))).toEqual(waits);
  });

  it('before the first try are a random time up to the one that is given', () => {
    const rule = { firstWaitSeconds: 60, laterWaitSeconds: 0, secondsMax };
    expect(reconnectWaitMs(1, rule, () => 0)).toBe(1);
    expect(reconnectWaitMs(1, rule, () => 0.5)).toBe(30_001);
    expect(reconnectWaitMs(2, rule, () => 0.5)).toBe(2_500);
  });

  it('before later tries are as wide as is given, up to the longest', () => {
    const rule = { firstWaitSeconds: 0, laterWaitSeconds: 101, secondsMax };
    expect([2, 6, 7].map((attempt) => reconnectWaitMs(attempt, rule, () => 0.5))).toEqual([
      51_000, 51_000, 60_500,
    ]);
  });
});
