import { type InvocationContext, inOneEvent } from '@apus/aws';
import {
  authorizationOf,
  BRIDGE_METRICS,
  createRuntime,
  queueCounts,
  type RulesRequest,
  required,
  type SqsEvent,
  SqsVisibility,
  secretReader,
  VARIABLES,
  withMetrics,
} from '@apus/aws/lambda';
import type { PublishRequest } from '@apus/broker';
import type { SinkContext } from '../kafka/sink.ts';
import type { KafkaTargetConfiguration } from '../rules/configuration/targets.ts';
import type { Target } from '../rules/target.ts';
import { openTarget } from '../rules/targets/open-target.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { openedRules } from './opened-rules.ts';
import { createRulesHandler, type RuleCount } from './rules-handler.ts';
import { createRulesOperator } from './rules-operator.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const COUNTS: Readonly<Record<RuleCount, (typeof BRIDGE_METRICS)[keyof typeof BRIDGE_METRICS]>> = {
  sent: BRIDGE_METRICS.ruleMessagesSent,
  failed_attempts: BRIDGE_METRICS.ruleAttemptsFailed,
  dead: BRIDGE_METRICS.ruleMessagesDead,
  condition_failed: BRIDGE_METRICS.ruleConditionsFailed,
};

export type OpenKafka = (rule: string, to: KafkaTargetConfiguration, context: SinkContext) => Target;

/**
 * The function of the rules: it takes messages from their queue, and requests of the operator by invocation.
 *
 * @param openKafka from the entry point with the Kafka client, which is twice as large
 */
export function createRulesEntry(openKafka: OpenKafka) {
  const runtime = createRuntime(process.env, authorizationOf);
  const { cloud, sqs, clock, log, metrics } = runtime;
  const publish = (request: PublishRequest) =>
    inOneEvent(cloud.environment, ({ broker }) => broker.publish(request));

  const rules = openedRules({
    list: JSON.parse(required(process.env, BRIDGE_VARIABLES.rules)),
    where: BRIDGE_VARIABLES.rules,
    readSecret: secretReader(),
    open: async (configuration) => {
      const { to } = configuration;
      if (to.kind === 'kafka') return openKafka(configuration.name, to, { clock: { ...clock, after }, log });
      return await openTarget(configuration, to, { clock, publish });
    },
    clock,
  });

  const deadLetterQueueUrl = required(process.env, VARIABLES.deadLetterQueueUrl);
  const deadLetters = new DeadLetterQueue({
    client: sqs,
    queueUrl: deadLetterQueueUrl,
    queue: runtime.queue(deadLetterQueueUrl),
    visibility: new SqsVisibility({ client: sqs, queueUrl: deadLetterQueueUrl, log }),
  });
  const queueUrl = required(process.env, VARIABLES.ruleQueueUrl);
  const handleMessages = createRulesHandler({
    rules,
    deadLetters,
    visibility: new SqsVisibility({ client: sqs, queueUrl, log }),
    clock,
    log,
    count: (what, messages) => metrics.add(COUNTS[what], messages),
  });
  const operate = createRulesOperator({ rules, deadLetters, counts: () => queueCounts(sqs, queueUrl) });

  return withMetrics(
    runtime,
    async (event: SqsEvent | RulesRequest, context: InvocationContext): Promise<unknown> =>
      'Records' in event ? await handleMessages(event, context) : await operate(event, context),
  );
}

function after(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
