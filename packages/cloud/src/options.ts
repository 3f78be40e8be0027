import { type BrokerOptions, DEFAULT_LIMITS } from '@apus/broker';
import { CLIENT_PACKET_BYTES_MAX } from './text-frame.ts';

/** API Gateway closes after ten idle minutes; the transport's heartbeat is below it (docs/text-frames.md, section 5). */
const KEEP_ALIVE_SECONDS_MAX = 540;

/** As long as a handler may live: a DISCONNECT may still be committing when the loss is noticed. */
const LOSS_GRACE_SECONDS = 5;

/** What the gateway door demands of the broker, over the given limits. */
export function gatewayBrokerOptions(options: BrokerOptions): BrokerOptions {
  return {
    ...options,
    ephemeralSessionsKeep: 'nothing',
    lossGraceSeconds: LOSS_GRACE_SECONDS,
    limits: {
      ...options.limits,
      maximumPacketSize: Math.min(options.limits.maximumPacketSize, CLIENT_PACKET_BYTES_MAX),
      // An alias would have to be known to whatever process handles the next frame.
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
  ephemeralSessionsKeep: 'nothing',
  lossGraceSeconds: LOSS_GRACE_SECONDS,
});
