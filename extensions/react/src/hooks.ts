import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { MESSAGES_MAX, TOPICS_MAX } from './limits.ts';
import type { Message } from './message.ts';
import { useHold, useSharedClient } from './provider.ts';
import { type Connection, NO_CONNECTION, type Payload, type PublishOptions } from './shared-client.ts';
import {
  NO_SUBSCRIPTION,
  type SubscribeOptions,
  type SubscriptionView,
  type Wanted,
} from './subscription.ts';

export interface Subscribed {
  /** SUBACK has granted the filter on the present connection. */
  readonly isSubscribed: boolean;
  /** Why the broker refuses the filter. The hook subscribes again at the next connection. */
  readonly error: Error | undefined;
}

export interface Messages extends Subscribed {
  /** The oldest first. */
  readonly messages: readonly Message[];
}

export interface LatestMessages extends Subscribed {
  /** The last message of each topic that the filter matches. A topic whose last message is empty is left out. */
  readonly byTopic: ReadonlyMap<string, Message>;
  /** The newest of all these messages. */
  readonly message: Message | undefined;
}

export interface PresentMembers extends Subscribed {
  /** The members, sorted by name; `text` or `json()` of each are its data. */
  readonly members: ReadonlyMap<string, Message>;
}

/** A member that the component makes present. */
export interface Me {
  readonly member: string;
  /**
   * Text, or a value that is sent as JSON. Not empty.
   * @default `{}`
   */
  readonly data?: Exclude<Payload, Uint8Array>;
}

/**
 * The last messages of a topic filter, since the first mounted component has subscribed to it.
 * @param topicFilter null while it is not known: no subscription
 * @param options `limit`: how many messages are kept, 100 by default
 */
export function useMessages(
  topicFilter: string | null,
  options: SubscribeOptions & { readonly limit?: number } = {},
): Messages {
  const { limit = MESSAGES_MAX, ...others } = options;
  const { messages, isSubscribed, error } = useSubscription(topicFilter, others, { messagesMax: limit });
  const last = useMemo(() => messages.slice(-limit), [messages, limit]);
  return { messages: last, isSubscribed, error };
}

/**
 * The last message of each topic of a filter. Retained messages, and snapshots of streams, come with the subscription.
 * @param options `topicsMax`: how many topics are kept, 10,000 by default; above it, the topic that changed first is
 * dropped
 */
export function useLatest(
  topicFilter: string | null,
  options: SubscribeOptions & { readonly topicsMax?: number } = {},
): LatestMessages {
  const { topicsMax = TOPICS_MAX, ...others } = options;
  const { byTopic, isSubscribed, error } = useSubscription(topicFilter, others, { topicsMax });
  const message = useMemo(() => [...byTopic.values()].at(-1), [byTopic]);
  return { byTopic, message, isSubscribed, error };
}

/**
 * The members of a room. With `me` the component makes a member present for as long as it is mounted.
 * @param room one level of a topic
 */
export function usePresence(room: string | null, me?: Me): PresentMembers {
  const client = useSharedClient();
  const filter = room === null ? null : `$presence/${room}/+`;
  const { byTopic, isSubscribed, error } = useSubscription(filter, {}, { topicsMax: TOPICS_MAX });
  const [refusal, setRefusal] = useState<Error | undefined>();
  const topic = room === null || me === undefined ? undefined : `$presence/${room}/${me.member}`;
  const data = textOf(me?.data ?? {});
  useEffect(() => {
    if (topic === undefined) return;
    return client.enter(topic, data, setRefusal);
  }, [client, topic, data]);
  const members = useMemo(
    () => new Map([...byTopic].map(([name, message]) => [memberOf(name), message] as const).sort(byName)),
    [byTopic],
  );
  return { members, isSubscribed, error: error ?? refusal };
}

/**
 * Returns a function that publishes. The function stays the same for the life of the component; its promise resolves
 * when the broker has accepted the message (QoS 1 by default), and rejects if the broker refuses it. A message on its
 * way is sent even after the component has gone.
 */
export function usePublish(): (topic: string, payload: Payload, options?: PublishOptions) => Promise<void> {
  const client = useSharedClient();
  useHold(client);
  return useCallback((topic, payload, options) => client.publish(topic, payload, options), [client]);
}

/** The state of the shared connection. The hook does not open one. */
export function useConnection(): Connection {
  const { connection } = useSharedClient();
  const listen = useCallback((listener: () => void) => connection.listen(listener), [connection]);
  return useSyncExternalStore(
    listen,
    () => connection.value,
    () => NO_CONNECTION,
  );
}

function useSubscription(
  topicFilter: string | null,
  { qos, noLocal, rewind, streamOffset, conflateMs, where }: SubscribeOptions,
  { messagesMax, topicsMax }: Wanted,
): SubscriptionView {
  const client = useSharedClient();
  const listen = useCallback(
    (listener: () => void) => {
      if (topicFilter === null) return () => {};
      const options = given({ qos, noLocal, rewind, streamOffset, conflateMs, where }) as SubscribeOptions;
      const release = client.acquire(topicFilter, options, given({ messagesMax, topicsMax }));
      const silence = client.subscription(topicFilter)?.shown.listen(listener);
      return () => {
        silence?.();
        release();
      };
    },
    [client, topicFilter, qos, noLocal, rewind, streamOffset, conflateMs, where, messagesMax, topicsMax],
  );
  const view = () =>
    topicFilter === null
      ? NO_SUBSCRIPTION
      : (client.subscription(topicFilter)?.shown.value ?? NO_SUBSCRIPTION);
  return useSyncExternalStore(listen, view, () => NO_SUBSCRIPTION);
}

/** The object without undefined fields. */
function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The order of members does not change when their data change. */
function byName([left]: readonly [string, Message], [right]: readonly [string, Message]): number {
  return left < right ? -1 : 1;
}

function memberOf(topic: string): string {
  return topic.slice(topic.lastIndexOf('/') + 1);
}

function textOf(data: Exclude<Payload, Uint8Array>): string {
  return typeof data === 'string' ? data : JSON.stringify(data);
}
