import { type BrokerOptions, DEFAULT_LIMITS } from '@apus/broker';
import { CLIENT_PACKET_BYTES_MAX } from './frames/text-frame.ts';

/**
 * API Gateway closes after ten idle minutes; the transport's heartbeat is below it (docs/text-frames.md, section 5).
 */
const KEEP_ALIVE_SECONDS_MAX = 540;

/** The lifetime of a handler: when a loss is noticed, another handler may still be committing DISCONNECT. */
export const LOSS_GRACE_SECONDS = 5;

/** API Gateway cuts every connection at this age. */
export const CONNECTION_SECONDS_MAX = 2 * 60 * 60;

/** A client that has lost its connection may go on with its session this long. */
export const RESUME_SECONDS = 60;

/** The largest value for that: a tombstone in memory, which keeps packets for the client, exists for five minutes. */
export const RESUME_SECONDS_MAX = 240;

/**
 * How far the clock that a client returns may be ahead of a function's: clocks of AWS differ by milliseconds, those of the
 * fault histories by two seconds. A retained message with a time of the future cannot be replaced until that time.
 */
export const CLOCK_AHEAD_MS_MAX = 3_000;

/** The frame of a move is repeated after 1.5 s. */
export const CUT_AFTER_MS_MAX = 1_000;

/**
 * How long the will of such a connection waits: its client comes back at once, unless it is one of many that share the
 * account's rate of new connections.
 */
const CUT_GRACE_SECONDS = 60;

/** The broker options of the gateway door, over the given limits. A test may shorten the grace period. */
export function gatewayBrokerOptions(
  options: Omit<BrokerOptions, 'ephemeralSessionsKeep' | 'lossGraceSeconds'>,
  lossGraceSeconds: number = LOSS_GRACE_SECONDS,
): BrokerOptions {
  return {
    ...options,
    ephemeralSessionsKeep: 'nothing',
    endsRefusedRepetitions: true,
    lossGraceSeconds,
    connectionLife: { seconds: CONNECTION_SECONDS_MAX, graceSeconds: CUT_GRACE_SECONDS },
    limits: {
      ...options.limits,
      maximumPacketSize: Math.min(options.limits.maximumPacketSize, CLIENT_PACKET_BYTES_MAX),
      // Another process may handle the next frame, and would not know the alias.
      topicAliasMaximum: 0,
      serverKeepAliveSecondsMax: Math.min(
        options.limits.serverKeepAliveSecondsMax || KEEP_ALIVE_SECONDS_MAX,
        KEEP_ALIVE_SECONDS_MAX,
      ),
    },
  };
}

export const DEFAULT_GATEWAY_OPTIONS: BrokerOptions = gatewayBrokerOptions({
  limits: DEFAULT_LIMITS,
  overlapping: 'one',
  responseInformation: undefined,
});
