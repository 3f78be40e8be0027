import type { OpenCluster } from '@apus/node';
import { EngineCluster } from './cluster.ts';
import { connectEngine } from './connect-engine.ts';
import type { JoinOptions } from './joined.ts';
import type { EngineOptions } from './store/index.ts';

export interface ClusterOptions extends EngineOptions, JoinOptions {}

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
      return await EngineCluster.join(engine, context, options);
    } catch (error) {
      engine.close();
      throw error;
    }
  };
}
