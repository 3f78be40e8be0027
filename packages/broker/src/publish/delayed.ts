import { ReasonCode, Violation, validateTopicName } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { AcceptOptions } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { DelayedMessages } from '../ports/delayed-messages.ts';

const DELAYED = '$delayed';
const PREFIX = `${DELAYED}/`;

/** 49 days: EMQX's own bound. */
export const DELAY_SECONDS_MAX = 4_294_967;

/** Subscribers get the message under `topic`, so many seconds later. */
export interface DelayedTopic {
  readonly seconds: number;
  readonly topic: string;
}

export function isDelayedTopic(topic: string): boolean {
  return topic.startsWith(PREFIX) || topic === DELAYED;
}

/** `$delayed/SECONDS/TOPIC`, as EMQX has it. Undefined where the topic is none. */
export function parseDelayed(topic: string): DelayedTopic | undefined {
  const [, digits = '', target = ''] = /^\$delayed\/(\d{1,7})\/(.+)$/s.exec(topic) ?? [];
  const seconds = Number(digits);
  if (target === '' || target.startsWith('$') || seconds > DELAY_SECONDS_MAX) return undefined;
  return { seconds, topic: target };
}

/** The topic for which an authorizer is asked: a delay gives no client a right that it lacks. */
export function authorizedTopic(topic: string): string {
  return (isDelayedTopic(topic) ? parseDelayed(topic)?.topic : undefined) ?? topic;
}

/** The reason why no client can publish to this topic; undefined where it can. */
export function delayedViolation({ ports, limits }: Context, topic: string): Violation | undefined {
  if (ports.delays === undefined)
    return new Violation(ReasonCode.TopicNameInvalid, 'this door delays no messages');
  const parsed = parseDelayed(topic);
  if (parsed !== undefined) return validateTopicName(parsed.topic, limits);
  return new Violation(
    ReasonCode.TopicNameInvalid,
    `${JSON.stringify(topic)} is not $delayed/SECONDS/TOPIC, with at most ${DELAY_SECONDS_MAX} seconds and a topic that does not begin with $`,
  );
}

/** Keeps a delayed message. It leaves, is retained and is delivered when it is due. */
export function* delay(
  delays: DelayedMessages,
  tenant: string,
  message: Message,
  seconds: number,
  { ports: { clock, writeQuota } }: Context,
  { publisher }: AcceptOptions,
): Flow<'delivered' | 'delays-full' | 'writes-exceeded'> {
  const writes = delays.writesOf?.(seconds) ?? 0;
  if (writes > 0 && publisher !== undefined && writeQuota !== undefined) {
    if (!(yield* waitFor(writeQuota.take(publisher, writes)))) return 'writes-exceeded';
  }
  const dueAtMs = clock.now() + seconds * 1000;
  const isKept = yield* waitFor(delays.keep(tenant, message, dueAtMs, publisher));
  return isKept ? 'delivered' : 'delays-full';
}
