import type { Authorizer } from '@apus/broker';

/** An authorizer with these rules for the clients of a test. An action without a rule is allowed. */
export function allow(rules: {
  publish?: (topicName: string) => boolean;
  subscribe?: (topicFilter: string) => boolean;
}): Authorizer {
  return {
    mayPublish: (_identity, _clientId, topicName) => rules.publish?.(topicName) ?? true,
    maySubscribe: (_identity, _clientId, topicFilter) => rules.subscribe?.(topicFilter) ?? true,
  };
}
