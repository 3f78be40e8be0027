import type { QoS } from '@apus/mqtt';

/**
 * Allows or denies an identity some topics. Rules are asked in their order, and the first that applies decides. To a
 * SUBSCRIBE a rule applies if it allows every topic of the filter, or denies one of them.
 */
export interface Rule {
  readonly effect: 'allow' | 'deny';
  readonly action: 'publish' | 'subscribe' | 'all';
  /**
   * `%u` and `${username}` stand for the name of the identity, `%c` and `${clientid}` for a client identifier that is
   * bound to it. `eq a/#` means the filter `a/#` itself and none of its topics; nothing is filled in.
   */
  readonly topicFilters: readonly string[];
  /** QoS of the message, or requested for the subscription. @default any */
  readonly qos?: readonly QoS[];
  /** Applies to messages with this RETAIN flag; not to subscriptions. @default both */
  readonly retain?: boolean;
  /**
   * Applies to all shared subscriptions (true), to all others (false), or to those of these groups; not to messages.
   * @default all
   */
  readonly share?: boolean | readonly string[];
}

/** Rules from two lists of topic filters: for publishing, and for subscribing. */
export function rulesOfLists(publish: readonly string[], subscribe: readonly string[]): readonly Rule[] {
  return [
    { effect: 'allow', action: 'publish', topicFilters: publish },
    { effect: 'allow', action: 'subscribe', topicFilters: subscribe },
  ];
}
