/** What the clients of a test may do; everything that is not named is allowed. In the shape of the broker's port. */
export function allow(rules: {
  publish?: (topicName: string) => boolean;
  subscribe?: (topicFilter: string) => boolean;
}): unknown {
  return {
    mayPublish: (_identity: unknown, _clientId: string, topicName: string) =>
      rules.publish?.(topicName) ?? true,
    maySubscribe: (_identity: unknown, _clientId: string, topicFilter: string) =>
      rules.subscribe?.(topicFilter) ?? true,
  };
}
