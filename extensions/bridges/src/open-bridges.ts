import type { Outlet } from '@apus/broker';
import { installed } from '@apus/door';
import { type BridgesContext, type OpenBridges, type RunningBridges, takeAll } from '@apus/node';
import type { Bridge } from './bridge.ts';
import type { BridgeConfiguration } from './configuration/configuration.ts';
import type { RuleConfiguration } from './rules/configuration/rules.ts';
import { type OpenedRules, openRules } from './rules/open-rules.ts';
import { RuleBacklog } from './rules/rule-backlog.ts';

/** Starts the bridges and the rules that files declare, for `startNode`. */
export function openBridges(
  configurations: readonly BridgeConfiguration[],
  rules: readonly RuleConfiguration[] = [],
): OpenBridges {
  // The parts of a node share one set: one part runs the rules, the other asks for room in their queues.
  const backlogs = new WeakMap<BridgesContext, RuleBacklog>();
  return async (context, part) => {
    const isOfPart = (each: BridgeConfiguration) => part === 'all' || (part === 'shared') === isShared(each);
    const backlog = backlogs.get(context) ?? new RuleBacklog(rules, context);
    backlogs.set(context, backlog);
    // The rules come first: a bridge may bring messages for a rule.
    const opened = await openRules(part === 'shared' ? [] : rules, context, undefined, backlog);
    try {
      const bridges: Bridge[] = [];
      for (const each of configurations.filter(isOfPart)) bridges.push(await bridgeOf(each, context));
      const running = await startAll(bridges, opened, context);
      return part === 'alone' || rules.length === 0 ? running : { ...running, backlog };
    } catch (error) {
      await opened.stop();
      throw error;
    }
  };
}

/**
 * Kafka divides the records among the members of a group, and each publisher waits for a producer in its own process.
 */
function isShared({ kind }: BridgeConfiguration): boolean {
  return kind === 'kafka';
}

/** Each client library is loaded only if it is used. */
async function bridgeOf(configuration: BridgeConfiguration, context: BridgesContext): Promise<Bridge> {
  if (configuration.kind === 'kafka') {
    const { KafkaBridge } = await installed(import('./kafka/kafka-bridge.ts'));
    return new KafkaBridge(configuration, context);
  }
  const { MqttBridge } = await import('./mqtt/mqtt-bridge.ts');
  return new MqttBridge(configuration, context);
}

async function startAll(
  bridges: readonly Bridge[],
  rules: OpenedRules,
  { log }: BridgesContext,
): Promise<RunningBridges> {
  const stop = async () => void (await Promise.all(bridges.map((bridge) => bridge.stop())));
  try {
    for (const bridge of bridges) await bridge.start();
  } catch (error) {
    await stop();
    throw error;
  }
  if (bridges.length > 0) log.info('bridges-started', { bridges: bridges.map(({ name }) => name) });
  const outlets = bridges.filter((bridge): bridge is Bridge & Outlet => 'take' in bridge);
  return {
    list: (tenant) =>
      Promise.all(bridges.filter((bridge) => bridge.tenant === tenant).map((bridge) => bridge.status())),
    rules,
    outlet: { take: (...message) => takeAll(outlets, ...message) },
    async stop() {
      await stop();
      await rules.stop();
    },
  };
}
