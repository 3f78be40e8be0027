import type { BreakerSettings } from '@apus/aws/lambda';
import { TRIPPED_FRAMES_PER_SECOND } from '../functions/breaker-variables.ts';
import type { GatewayApi, GatewayStage } from './api.ts';
import { BREAKER_RESET_MINUTES, MESSAGES_PER_MINUTE_MAX } from './defaults.ts';
import type { ApusBrokerProps } from './props.ts';

/** The settings of the breaker for the operators' API, as JSON; undefined with `breaker: false`. */
export function breakerJson(
  { breaker }: Pick<ApusBrokerProps, 'breaker'>,
  { api }: GatewayApi,
  { stage, framesPerSecond }: GatewayStage,
): string | undefined {
  if (breaker === false) return undefined;
  const { messagesPerMinuteMax = MESSAGES_PER_MINUTE_MAX, resetMinutes = BREAKER_RESET_MINUTES } =
    breaker ?? {};
  return JSON.stringify({
    apiId: api.apiId,
    stageName: stage.stageName,
    framesPerSecond,
    trippedFramesPerSecond: TRIPPED_FRAMES_PER_SECOND,
    messagesPerMinuteMax,
    resetMinutes,
  } satisfies BreakerSettings);
}
