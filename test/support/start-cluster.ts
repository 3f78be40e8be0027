import { openCluster } from '@apus/cluster';
import { type NodeOptions, type RunningNode, startNode } from '@apus/node';

/** Starts one process of a cluster, here: it shares nothing with another one in this process but the engine. */
export async function startMember(url: string, options: NodeOptions = {}): Promise<RunningNode> {
  return await startNode({ port: 0, logSink: () => {}, ...options, openCluster: openCluster({ url }) });
}
