import type { Environment, InvocationContext } from '@apus/aws';
import { authorizationOf, type BRIDGE_METRICS, createRuntime, METRICS, withMetrics } from '@apus/aws/lambda';
import { DEFAULT_LIMITS, type Log } from '@apus/broker';

/** The parts of a process that a function needs to publish messages from another system. */
export interface Inbound {
  readonly environment: Environment;
  readonly topicLevelsMax: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  /** Called with the number of messages that the broker has stored. */
  readonly published: (messages: number) => void;
  /** Called for records that cannot become messages, and for messages that the broker refuses for good. */
  readonly skipped: () => void;
}

/**
 * A function that publishes messages from another system.
 *
 * @param skipped the metric of skipped messages
 */
export function createInboundEntry<Event, Result>(
  skipped: (typeof BRIDGE_METRICS)[keyof typeof BRIDGE_METRICS],
  createHandler: (inbound: Inbound) => (event: Event, context: InvocationContext) => Promise<Result>,
) {
  const runtime = createRuntime(process.env, authorizationOf);
  const { cloud, log, metrics, options, sleep } = runtime;
  const { topicLevelsMax = DEFAULT_LIMITS.topicLevelsMax } = options.limits ?? {};
  const handler = createHandler({
    ...{ environment: cloud.environment, topicLevelsMax, sleep, log },
    published: (messages) => metrics.add(METRICS.messagesIn, messages),
    skipped: () => metrics.add(skipped),
  });
  return withMetrics(runtime, handler);
}
