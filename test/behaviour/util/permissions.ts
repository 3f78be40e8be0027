import type { Authorizer } from '@apus/broker';

/** What the clients of a test may do; everything that is not named is allowed. */
export function allow(rules: {
  publish?: (topicName: string) => boolean;
  subscribe?: (topicFilter: string) => boolean;
}): Authorizer {
  return {
    mayPublish: (_identity, _clientId, topicName) => rules.publish?.(topicName) ?? true,
    maySubscribe: (_identity, _clientId, topicFilter) => rules.subscribe?.(topicFilter) ?? true,
  };
}
