import type { PublishRequest } from '@apus/broker';
import { type InvocationContext, inOneEvent } from '@apus/cloud';
import {
  authorizationOf,
  BRIDGE_METRICS,
  createRuntime,
  required,
  type SqsEvent,
  SqsVisibility,
  secretReader,
  VARIABLES,
  withMetrics,
} from '@apus/cloud/lambda';
import { openTarget } from '../rules/targets/open-target.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { openedRules } from './opened-rules.ts';
import { createRulesHandler, type RuleCount } from './rules-handler.ts';
import { createRulesOperator, type RulesRequest } from './rules-operator.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, sqs, clock, log, metrics } = runtime;

const COUNTS: Readonly<Record<RuleCount, (typeof BRIDGE_METRICS)[keyof typeof BRIDGE_METRICS]>> = {
  sent: BRIDGE_METRICS.ruleMessagesSent,
  failed_attempts: BRIDGE_METRICS.ruleAttemptsFailed,
  dead: BRIDGE_METRICS.ruleMessagesDead,
  condition_failed: BRIDGE_METRICS.ruleConditionsFailed,
};

const publish = (request: PublishRequest) =>
  inOneEvent(cloud.environment, ({ broker }) => broker.publish(request));

const rules = openedRules({
  list: JSON.parse(required(process.env, BRIDGE_VARIABLES.rules)),
  where: BRIDGE_VARIABLES.rules,
  readSecret: secretReader(),
  open: async (configuration) => {
    const { to } = configuration;
    if (to.kind === 'kafka') throw new Error('a deployment has no rule to Kafka');
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
const handleMessages = createRulesHandler({
  rules,
  deadLetters,
  visibility: new SqsVisibility({
    client: sqs,
    queueUrl: required(process.env, VARIABLES.ruleQueueUrl),
    log,
  }),
  clock,
  log,
  count: (what, messages) => metrics.add(COUNTS[what], messages),
});
const operate = createRulesOperator({ rules, deadLetters });

/** Messages for rules, from their queue; and what their owner asks, by an invocation. */
export const handler = withMetrics(
  runtime,
  async (event: SqsEvent | RulesRequest, context: InvocationContext): Promise<unknown> =>
    'Records' in event ? await handleMessages(event, context) : await operate(event, context),
);
