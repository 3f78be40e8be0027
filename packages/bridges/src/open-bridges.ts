import type { BridgesContext, OpenBridges, RunningBridges } from '@apus/node';
import type { Bridge } from './bridge.ts';
import type { BridgeConfiguration } from './configuration/configuration.ts';
import { MqttBridge } from './mqtt/mqtt-bridge.ts';

/** Starts the bridges that a file declares, for `startNode`. */
export function openBridges(configurations: readonly BridgeConfiguration[]): OpenBridges {
  return async (context) =>
    await startAll(
      configurations.map((each) => new MqttBridge(each, context)),
      context,
    );
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
  return {
    list: (tenant) =>
      Promise.all(bridges.filter((bridge) => bridge.tenant === tenant).map((bridge) => bridge.status())),
    stop,
  };
}
