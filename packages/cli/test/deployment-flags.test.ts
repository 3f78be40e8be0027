import { describe, expect, it } from 'vitest';
import { FRAMES_PER_SECOND, MESSAGES_PER_MINUTE_MAX, POSTS_PER_SECOND } from '../../../infra/lib/defaults.ts';
import { DEPLOYMENT_DEFAULTS, deploymentFlags } from '../src/doctor/deployment-flags.ts';

const load = (connections: number, messagesPerSecond: number, deliveriesPerMessage: number) => ({
  connections,
  messagesPerSecond,
  deliveriesPerMessage,
});

describe('the flags of a deployment for a load', () => {
  it('start from the defaults of a deployment', () => {
    expect(DEPLOYMENT_DEFAULTS).toEqual({
      framesPerSecond: FRAMES_PER_SECOND,
      maxPostsPerSecond: POSTS_PER_SECOND,
      messagesPerMinuteMax: MESSAGES_PER_MINUTE_MAX,
    });
  });

  it('are empty if the defaults are enough', () => {
    expect(deploymentFlags(load(1_000, 100, 1), 1_000)).toEqual([]);
  });

  it('raise frames and the breaker for 2,000 messages a second', () => {
    expect(deploymentFlags(load(1_000, 2_000, 1), 1_000)).toEqual([
      '--frames-per-second 3100',
      '--messages-per-minute-max 910000',
    ]);
  });

  it('raise the quotas of an identity if one publishes for many', () => {
    expect(deploymentFlags(load(10_000, 5, 10_000), 1)).toEqual([
      '--max-posts-per-second 75000',
      '--messages-per-minute-max 7600000',
      '--identity-deliveries-per-minute-max 4500000',
    ]);
  });
});
