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
import { readDeployedRules, secretArnsOf } from './deployed-rules.ts';
import { createRulesHandler, type OpenRule, type RuleCount, ruleKey } from './rules-handler.ts';
import { createRulesOperator, type RulesRequest } from './rules-operator.ts';
import { BRIDGE_VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, sqs, clock, log, metrics } = runtime;
const readSecret = secretReader();

const COUNTS: Readonly<Record<RuleCount, (typeof BRIDGE_METRICS)[keyof typeof BRIDGE_METRICS]>> = {
  sent: BRIDGE_METRICS.ruleMessagesSent,
  failed_attempts: BRIDGE_METRICS.ruleAttemptsFailed,
  dead: BRIDGE_METRICS.ruleMessagesDead,
  condition_failed: BRIDGE_METRICS.ruleConditionsFailed,
};

async function openRules(): Promise<ReadonlyMap<string, OpenRule>> {
  const list: unknown = JSON.parse(required(process.env, BRIDGE_VARIABLES.rules));
  const arns = secretArnsOf(list);
  const texts = new Map(await Promise.all(arns.map(async (arn) => [arn, await readSecret(arn)] as const)));
  const publish = (request: PublishRequest) =>
    inOneEvent(cloud.environment, ({ broker }) => broker.publish(request));
  const opened = readDeployedRules(list, BRIDGE_VARIABLES.rules, (arn) => texts.get(arn)).map(
    async (configuration) => {
      const { to } = configuration;
      if (to.kind === 'kafka') throw new Error('a deployment has no rule to Kafka');
      const target = await openTarget(configuration, to, { clock, publish });
      return [ruleKey(configuration), { configuration, target }] as const;
    },
  );
  return new Map(await Promise.all(opened));
}

let opened: Promise<ReadonlyMap<string, OpenRule>> | undefined;

/** Opened by the first event; where a secret could not be read the next one tries again. */
function rules(): Promise<ReadonlyMap<string, OpenRule>> {
  opened ??= openRules().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

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
    'Records' in event ? await handleMessages(event, context) : await operate(event),
);
