import { GATEWAY_QUOTAS } from '@apus/broker';
import { HEARTBEAT_SECONDS, INLINE_SUBSCRIBERS_MAX, type Load } from './diagnosis.ts';

/** The limits of a deployment without flags. A test compares them with infra/lib/defaults.ts. */
export const DEPLOYMENT_DEFAULTS = {
  framesPerSecond: 500,
  maxPostsPerSecond: 1_000,
  messagesPerMinuteMax: 100_000,
} as const;

/** Limits are this many times the load, since a load is not evenly spread over its minute. */
const HEADROOM = 1.5;

/** One tenant's share of the messages at which the breaker trips (infra/lib/options.ts, `quotas`). */
const TENANT_SHARE = 0.6;

const IDENTITY = GATEWAY_QUOTAS.identity;

interface Limit {
  readonly flag: string;
  readonly needed: number;
  /** The limit without the flag. */
  readonly preset: number;
}

/** The flags of `npm run deploy` for a load: those of limits whose defaults are too low for it. */
export function deploymentFlags(load: Load, publishers: number): readonly string[] {
  return limitsOf(load, publishers).flatMap(({ flag, needed, preset }) =>
    needed > preset ? [`${flag} ${roundedUp(needed)}`] : [],
  );
}

function limitsOf(load: Load, publishers: number): readonly Limit[] {
  const { connections, messagesPerSecond, deliveriesPerMessage } = load;
  const frames = (messagesPerSecond + connections / HEARTBEAT_SECONDS) * HEADROOM;
  const posts = messagesPerSecond * deliveriesPerMessage * HEADROOM;
  const ofWorkers = deliveriesPerMessage > INLINE_SUBSCRIBERS_MAX ? posts : 0;
  // Counts a frame, its reply, and the posts.
  const messagesPerMinute = (2 * frames + posts) * 60;
  const { framesPerSecond, maxPostsPerSecond, messagesPerMinuteMax } = DEPLOYMENT_DEFAULTS;
  const ofOne = (perSecond: number) => perSecond / publishers;
  return [
    { flag: '--frames-per-second', needed: frames, preset: framesPerSecond },
    { flag: '--max-posts-per-second', needed: ofWorkers, preset: maxPostsPerSecond },
    {
      flag: '--messages-per-minute-max',
      needed: messagesPerMinute / TENANT_SHARE,
      preset: messagesPerMinuteMax,
    },
    {
      flag: '--identity-frames-per-second-max',
      needed: ofOne(messagesPerSecond * HEADROOM),
      preset: IDENTITY.framesPerSecondMax,
    },
    {
      flag: '--identity-publishes-per-second-max',
      needed: ofOne(messagesPerSecond * HEADROOM),
      preset: IDENTITY.publishesPerSecondMax,
    },
    {
      flag: '--identity-deliveries-per-minute-max',
      needed: ofOne(posts * 60),
      preset: IDENTITY.deliveriesPerMinuteMax,
    },
  ];
}

/** Rounds to two digits. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}
