import { GATEWAY_QUOTAS, type GivenQuotaScopes } from '@apus/broker';
import { MESSAGES_PER_MINUTE_MAX } from './defaults.ts';
import type { ApusBrokerProps } from './props.ts';

/** The quotas that differ from the defaults. Message quotas follow from the breaker's limit, and are below it. */
export function quotasOf({ quotas = {}, breaker }: ApusBrokerProps): GivenQuotaScopes | undefined {
  const limit = breaker === false ? 0 : breaker?.messagesPerMinuteMax;
  if (limit === undefined) return Object.keys(quotas).length === 0 ? undefined : quotas;
  const share = limit / MESSAGES_PER_MINUTE_MAX;
  const { tenant, broker } = GATEWAY_QUOTAS;
  return {
    ...quotas,
    tenant: { messagesPerMinuteMax: Math.floor(tenant.messagesPerMinuteMax * share), ...quotas.tenant },
    broker: { messagesPerMinuteMax: Math.floor(broker.messagesPerMinuteMax * share), ...quotas.broker },
  };
}
