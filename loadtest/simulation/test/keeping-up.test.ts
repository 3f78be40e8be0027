import { describe, expect, it } from 'vitest';
import { FRAMES_PER_SECOND, MESSAGES_PER_MINUTE_MAX, POSTS_PER_SECOND } from '../../../infra/lib/defaults.ts';
import { GATEWAY_QUOTAS } from '../../../packages/broker/src/model/quotas.ts';
import { borneShare, keepsUp } from '../src/backlog.ts';
import { DEFAULT_QUOTAS, predictionText, simulate, workloadFrom } from '../src/index.ts';

/** Twice the posts of the deployment's budget: half of them wait for ever. */
const BEHIND = { connections: 2_000, recipients: 1_000, messagesPerSecond: 2, warmUpSeconds: 10 };

/** The tenant's share of the breaker would refuse half of it before workers are involved. */
const ROOM = { quotas: { ...DEFAULT_QUOTAS, messagesPerMinuteMax: 1_000_000 } };

describe('a system that falls behind', () => {
  it.each([20, 60])(
    'is reported not to keep up, with its sustainable rate, in a window of %d s',
    (seconds) => {
      const prediction = simulate(workloadFrom({ ...BEHIND, seconds }), ROOM);
      expect(prediction.keepsUp).toBe(false);
      const borne = prediction.borneMessagesPerSecond ?? Number.NaN;
      expect(borne).toBeGreaterThan(0.5);
      expect(borne).toBeLessThanOrEqual(1.2);
      expect(predictionText(prediction)).toMatch(
        /does not keep up with the quotas as they are: \d+ messages wait after \d+ s.*It bears about [\d.]+ messages a second/,
      );
      expect(simulate(workloadFrom({ ...BEHIND, messagesPerSecond: borne, seconds }), ROOM).keepsUp).toBe(
        true,
      );
    },
  );

  it('keeps up once its quotas are raised', () => {
    const { liftedQuotas } = simulate(workloadFrom({ ...BEHIND, seconds: 60 }));
    const raised = simulate(workloadFrom({ ...BEHIND, seconds: 60 }), { quotas: liftedQuotas });
    expect(raised.keepsUp).toBe(true);
    expect(raised.borneMessagesPerSecond).toBeUndefined();
    expect(predictionText(raised)).not.toContain('keep up');
  });

  it('is told from a burst: a backlog that grows in one half only, or by chance', () => {
    expect(keepsUp({ begin: 0, half: 100, end: 100 }, 1_000)).toBe(true);
    expect(keepsUp({ begin: 50, half: 60, end: 75 }, 1_000)).toBe(true);
    expect(keepsUp({ begin: 0, half: 100, end: 200 }, 1_000)).toBe(false);
    expect(borneShare({ begin: 0, half: 100, end: 200 }, 1_000)).toBe(0.8);
  });
});

describe("the deployment's own limits", () => {
  it('are those of a deployment without flags', () => {
    const { identity } = GATEWAY_QUOTAS;
    expect(DEFAULT_QUOTAS).toMatchObject({
      stageFramesPerSecond: FRAMES_PER_SECOND,
      maxPostsPerSecond: POSTS_PER_SECOND,
      messagesPerMinuteMax: MESSAGES_PER_MINUTE_MAX,
      identityFramesPerSecondMax: identity.framesPerSecondMax,
      identityPublishesPerSecondMax: identity.publishesPerSecondMax,
      identityDeliveriesPerMinuteMax: identity.deliveriesPerMinuteMax,
    });
  });

  it('name the breaker, which 2,000 messages a second trip, and all flags in one line', () => {
    const prediction = simulate(workloadFrom({ connections: 1_000, messagesPerSecond: 2_000, seconds: 5 }));
    const breaker = prediction.demands.find(({ quota }) => quota === 'messagesPerMinuteMax');
    // Frames, replies and posts a minute; a tenant may have six tenths of them.
    expect(breaker?.asked).toBeGreaterThan((2_000 * 2.7 * 60) / 0.6);
    expect(breaker?.asked).toBeLessThan((2_000 * 3.1 * 60) / 0.6);
    expect(predictionText(prediction)).toMatch(
      /npm run deploy -- --messages-per-minute-max \d+ --frames-per-second \d+/,
    );
  });

  it('are simulated: light clients of a tenant trip the breaker, and the rate that it lets pass is reported', () => {
    const given = { connections: 20_000, messagesPerSecond: 800, seconds: 20 };
    // Room in the stage's throttle: the breaker alone is met.
    const quotas = { ...DEFAULT_QUOTAS, stageFramesPerSecond: 5_000 };
    const prediction = simulate(workloadFrom(given), { quotas });
    expect(prediction.asIs.messagesPerMinute).toBeGreaterThan(800 * 2.9 * 60);
    expect(prediction).toMatchObject({ keepsUp: false, asIs: { tripsBreaker: true } });
    expect(predictionText(prediction)).toMatch(/does not keep up .*the breaker trips at 100,000: within two/);
    const borne = prediction.borneMessagesPerSecond ?? Number.NaN;
    expect(borne).toBeGreaterThan(400);
    // Each message is a frame, a reply and a post.
    expect(borne * 3 * 60).toBeLessThanOrEqual(100_000);
    expect(prediction.lifted.tripsBreaker).toBe(false);
  });

  it('are simulated: a busy publisher is refused for its deliveries, and no more of them pass than its quota of a minute', () => {
    const given = { connections: 1_000, publishers: 1, recipients: 100, messagesPerSecond: 40, seconds: 60 };
    const quotas = { ...DEFAULT_QUOTAS, maxPostsPerSecond: 10_000, messagesPerMinuteMax: 10_000_000 };
    const prediction = simulate(workloadFrom({ ...given, warmUpSeconds: 120 }), { quotas });
    const { tally } = prediction.asIs;
    // 30,000 deliveries a minute, of 240,000 that are asked for.
    expect(tally.delivered).toBeGreaterThan(27_000);
    expect(tally.delivered).toBeLessThan(33_000);
    expect(tally.publishesOverLimit).toBeGreaterThan(2_000);
    expect(prediction.keepsUp).toBe(false);
    expect(predictionText(prediction)).toMatch(/limits of one identity or of the tenant refuse 3\d messages/);
    expect(prediction.lifted.tally.publishesOverLimit).toBe(0);
  });

  it('are simulated: a publisher with too many frames is cut', () => {
    const given = {
      connections: 100,
      publishers: 1,
      messagesPerSecond: 2_000,
      payloadBytes: 9_000,
      seconds: 20,
    };
    const quotas = { ...DEFAULT_QUOTAS, identityFramesPerSecondMax: 10, stageFramesPerSecond: 5_000 };
    const { tally } = simulate(workloadFrom(given), {
      quotas: { ...quotas, messagesPerMinuteMax: 1e7 },
    }).asIs;
    expect(tally.framesOverLimit).toBeGreaterThan(0);
  });

  it('name what one identity may cause, where it publishes for many', () => {
    const given = { connections: 100, publishers: 1, recipients: 100, messagesPerSecond: 10, seconds: 10 };
    expect(predictionText(simulate(workloadFrom(given)))).toMatch(/--identity-deliveries-per-minute-max \d+/);
  });
});
