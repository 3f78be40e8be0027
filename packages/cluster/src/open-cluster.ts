import type { OpenCluster } from '@apus/node';
import type { EngineOptions } from '@apus/store-valkey';
import { EngineCluster } from './cluster.ts';
import { connectEngine } from './connect-engine.ts';

export interface ClusterOptions extends EngineOptions {
  /**
   * No other process uses the engine: the sessions of former processes are taken over at once, and not when their
   * leases end.
   *
   * @default false
   */
  readonly isFirst?: boolean | undefined;
}

/**
 * Makes a node one process of a cluster, whose processes share an engine.
 *
 * @example
 * const node = await startNode({ openCluster: openCluster({ url: 'redis://127.0.0.1:6379' }) });
 */
export function openCluster(options: ClusterOptions): OpenCluster {
  return async (context) => {
    const engine = await connectEngine(options);
    try {
      return await EngineCluster.join(engine, context, options.isFirst === true);
    } catch (error) {
      engine.close();
      throw error;
    }
  };
}
