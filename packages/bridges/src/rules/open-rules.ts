import type { Message } from '@apus/broker';
import type { BridgesContext, RunningRules } from '@apus/node';
import type { RuleConfiguration, TargetConfiguration } from './configuration/rules.ts';
import { Rule } from './rule.ts';
import type { Target } from './target.ts';

/** Running rules, with what the broker asks of them. */
export interface OpenedRules extends RunningRules {
  hasRoom(tenant: string, message: Message): boolean;
  stop(): Promise<void>;
}

type OpenTarget = typeof targetOf;

export async function openRules(
  configurations: readonly RuleConfiguration[],
  context: BridgesContext,
  openTarget: OpenTarget = targetOf,
): Promise<OpenedRules> {
  const rules: Rule[] = [];
  const stop = async () => void (await Promise.all(rules.map((rule) => rule.stop())));
  try {
    for (const each of configurations) {
      const rule = new Rule(each, await openTarget(each, each.to, context), context);
      rules.push(rule);
      await rule.start();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  if (rules.length > 0) context.log.info('rules-started', { rules: rules.map(({ name }) => name) });
  return {
    list: (tenant) => rules.filter((rule) => rule.tenant === tenant).map((rule) => rule.status()),
    deadLetters: (tenant, name) =>
      rules.find((rule) => rule.tenant === tenant && rule.name === name)?.deadLetters,
    hasRoom: (tenant, message) => rules.every((rule) => rule.hasRoom(tenant, message)),
    stop,
  };
}

/** The clients of other systems are loaded where they are used. */
async function targetOf(
  rule: RuleConfiguration,
  to: TargetConfiguration,
  context: BridgesContext,
): Promise<Target> {
  switch (to.kind) {
    case 'webhook': {
      const { Webhook } = await import('./targets/webhook.ts');
      return new Webhook(rule.name, to);
    }
    case 'kafka': {
      const { KafkaTarget } = await import('./targets/kafka.ts');
      return new KafkaTarget(rule.name, to, context);
    }
    case 'publish': {
      const { PublishTarget } = await import('./targets/publish.ts');
      return new PublishTarget(rule.tenant, to, context);
    }
    case 'sqs': {
      const { openSqs } = await import('./targets/sqs.ts');
      return openSqs(to);
    }
    case 'eventBridge': {
      const { openEventBridge } = await import('./targets/event-bridge.ts');
      return openEventBridge(to);
    }
    case 'lambda': {
      const { openLambda } = await import('./targets/lambda.ts');
      return openLambda(to);
    }
  }
}
