import type { Awaitable, Message, Outlet } from '@apus/broker';
import type { BridgesContext, OpenBridges, RunningBridges } from '@apus/node';
import type { Bridge } from './bridge.ts';
import type { BridgeConfiguration } from './configuration/configuration.ts';

/** Starts the bridges that a file declares, for `startNode`. */
export function openBridges(configurations: readonly BridgeConfiguration[]): OpenBridges {
  return async (context) => {
    const bridges: Bridge[] = [];
    for (const each of configurations) bridges.push(await bridgeOf(each, context));
    return await startAll(bridges, context);
  };
}

/** The clients are loaded where they are used. */
async function bridgeOf(configuration: BridgeConfiguration, context: BridgesContext): Promise<Bridge> {
  if (configuration.kind === 'kafka') {
    const { KafkaBridge } = await import('./kafka/kafka-bridge.ts');
    return new KafkaBridge(configuration, context);
  }
  const { MqttBridge } = await import('./mqtt/mqtt-bridge.ts');
  return new MqttBridge(configuration, context);
}

async function startAll(bridges: readonly Bridge[], { log }: BridgesContext): Promise<RunningBridges> {
  const stop = async () => void (await Promise.all(bridges.map((bridge) => bridge.stop())));
  try {
    for (const bridge of bridges) await bridge.start();
  } catch (error) {
    await stop();
    throw error;
  }
  log.info('bridges-started', { bridges: bridges.map(({ name }) => name) });
  const outlets = bridges.filter((bridge): bridge is Bridge & Outlet => 'take' in bridge);
  return {
    list: (tenant) =>
      Promise.all(bridges.filter((bridge) => bridge.tenant === tenant).map((bridge) => bridge.status())),
    outlet: outlets.length === 0 ? undefined : { take: (...message) => takeAll(outlets, ...message) },
    stop,
  };
}

/** Each outlet that wants the message has to have it. */
function takeAll(
  outlets: readonly Outlet[],
  tenant: string,
  message: Message,
  isAnswered: boolean,
): Awaitable<boolean> | undefined {
  let all: Awaitable<boolean> | undefined;
  for (const outlet of outlets) {
    const taken = outlet.take(tenant, message, isAnswered);
    if (taken !== undefined) all = all === undefined ? taken : both(all, taken);
  }
  return all;
}

async function both(one: Awaitable<boolean>, other: Awaitable<boolean>): Promise<boolean> {
  const [isOne, isOther] = await Promise.all([one, other]);
  return isOne && isOther;
}
