import { CLUSTER_COMMAND } from './cluster/command.ts';
import { type Command, runCommand } from './command-line.ts';
import { FLEET_COMMAND } from './fleet/command.ts';
import { KAFKA_NODES_COMMAND } from './kafka-nodes.ts';
import { predictionText } from './report.ts';
import { type Prediction, simulate } from './simulate.ts';
import { type SimulatedWorkload, WORKLOAD_FIELDS, workloadFrom } from './workload.ts';

const USAGE = `npm run simulate -- [FILE] [FLAGS]
npm run simulate -- fleet-return [FILE] [FLAGS]
npm run simulate -- kafka-nodes [FLAGS]
npm run simulate -- cluster [FILE] [FLAGS]

Predicts latency, throttling and cost of a workload at the gateway door, says which quota binds first, and what to
raise. FILE is JSON with the fields below in camel case, and "quotas" with theirs; flags win over it.

Example: npm run simulate -- loadtest/simulation/workloads/two-million.json
         npm run simulate -- --connections 1000 --messages-per-second 100

\`npm run simulate -- fleet-return --help\` explains the second: a fleet that is cut at one moment and comes back.
\`npm run simulate -- kafka-nodes --help\` explains the third: nodes that read Kafka for many subscribers.
\`npm run simulate -- cluster --help\` explains the fourth: machines and costs of a cluster of nodes.
`;

const PREDICTION_COMMAND: Command<SimulatedWorkload> = {
  usage: USAGE,
  fields: WORKLOAD_FIELDS,
  simulate(given, quotas, isJson) {
    const prediction = simulate(workloadFrom(given), { quotas });
    return isJson ? summaryOf(prediction) : predictionText(prediction);
  },
};

/** Prints a prediction. Returns the exit code. */
export function main(argv: readonly string[]): number {
  const [first, ...rest] = argv;
  if (first === 'fleet-return') return runCommand(FLEET_COMMAND, rest);
  if (first === 'kafka-nodes') return runCommand(KAFKA_NODES_COMMAND, rest);
  if (first === 'cluster') return runCommand(CLUSTER_COMMAND, rest);
  return runCommand(PREDICTION_COMMAND, argv);
}

function summaryOf(prediction: Prediction) {
  const { asIs, lifted, ...rest } = prediction;
  const run = ({ tally, ...others }: typeof asIs) => {
    const { deliveryMs, acknowledgeMs, ...counts } = tally;
    const latency = (histogram: typeof deliveryMs) => ({
      count: histogram.count,
      mean: histogram.mean,
      p50: histogram.quantile(0.5),
      p95: histogram.quantile(0.95),
      p99: histogram.quantile(0.99),
      p999: histogram.quantile(0.999),
      max: histogram.max,
    });
    return { ...others, counts, deliveryMs: latency(deliveryMs), acknowledgeMs: latency(acknowledgeMs) };
  };
  return { ...rest, asIs: run(asIs), lifted: run(lifted) };
}
