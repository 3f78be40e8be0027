import type { QoS } from '@apus/mqtt';

/**
 * One right of an identity, or its denial, for some topics. Rules are asked in their order, and the first that applies decides. A rule
 * applies to a SUBSCRIBE where it allows every topic of the requested filter, or denies one of them.
 */
export interface Rule {
  readonly effect: 'allow' | 'deny';
  readonly action: 'publish' | 'subscribe' | 'all';
  /**
   * `%u` and `${username}` stand for the name of the identity, `%c` and `${clientid}` for a client identifier that is
   * bound to it. `eq a/#` is the filter `a/#` itself and none of its topics, with nothing filled in.
   */
  readonly topicFilters: readonly string[];
  /** Of the message, or requested for the subscription. @default any */
  readonly qos?: readonly QoS[];
  /** Applies to messages with this RETAIN flag; not to subscriptions. @default both */
  readonly retain?: boolean;
  /** Applies to all shared subscriptions, to all others, or to those of these groups; not to messages. @default all */
  readonly share?: boolean | readonly string[];
}

/** The rules of two lists of topic filters: for publishing, and for subscribing. */
export function rulesOfLists(publish: readonly string[], subscribe: readonly string[]): readonly Rule[] {
  return [
    { effect: 'allow', action: 'publish', topicFilters: publish },
    { effect: 'allow', action: 'subscribe', topicFilters: subscribe },
  ];
}
