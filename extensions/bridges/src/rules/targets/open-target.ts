import type { RuleConfiguration } from '../configuration/rules.ts';
import type { KafkaTargetConfiguration, TargetConfiguration } from '../configuration/targets.ts';
import type { Target } from '../target.ts';
import type { PublishContext } from './publish.ts';

/** The targets of both doors: all but Kafka. Client libraries are loaded only if they are used. */
export async function openTarget(
  rule: Pick<RuleConfiguration, 'name' | 'tenant'>,
  to: Exclude<TargetConfiguration, KafkaTargetConfiguration>,
  context: PublishContext,
): Promise<Target> {
  switch (to.kind) {
    case 'webhook': {
      const { Webhook } = await import('./webhook.ts');
      return new Webhook(rule.name, to);
    }
    case 'publish': {
      const { PublishTarget } = await import('./publish.ts');
      return new PublishTarget(rule.tenant, to, context);
    }
    case 'sqs': {
      const { openSqs } = await import('./sqs.ts');
      return openSqs(to);
    }
    case 'eventBridge': {
      const { openEventBridge } = await import('./event-bridge.ts');
      return openEventBridge(to);
    }
    case 'iotCore': {
      const [{ IotCoreTarget }, { defaultProvider }] = await Promise.all([
        import('./iot-core.ts'),
        import('@aws-sdk/credential-provider-node'),
      ]);
      return new IotCoreTarget(to, defaultProvider(), context.clock);
    }
    case 'lambda': {
      const { openLambda } = await import('./lambda.ts');
      return openLambda(to);
    }
  }
}
