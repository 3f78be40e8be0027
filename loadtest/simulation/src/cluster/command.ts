import type { Command } from '../command-line.ts';
import { clusterReport, predictCluster } from './report.ts';
import { CLUSTER_FIELDS, type ClusterWorkload, clusterFrom } from './workload.ts';

const USAGE = `npm run simulate -- cluster [FILE] [FLAGS]

Says how many processes of \`apus serve --cluster\` a workload needs, on which machines, what its engine has to do, what a
month costs, and when all clients of a process that has died are back. It adds up what was measured, in three columns:
with the least, the usual and the most that was seen of each. FILE is JSON with the fields below in camel case.

Example: npm run simulate -- cluster loadtest/simulation/workloads/cluster-pairs.json
         npm run simulate -- cluster --connections 100000 --messages-per-second 5000 --filters 50000
`;

export const CLUSTER_COMMAND: Command<ClusterWorkload> = {
  usage: USAGE,
  fields: CLUSTER_FIELDS,
  simulate(given, _quotas, isJson) {
    const workload = clusterFrom(given);
    return isJson ? predictCluster(workload) : clusterReport(workload);
  },
};
