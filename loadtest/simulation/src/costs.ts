import { type Bill, billOf, scaleUsage, type Usage, usage } from '@apus/cost';
import type { Run } from './run-model.ts';
import { MEMORY_MEGABYTES } from './service-times.ts';
import type { SimulatedWorkload } from './workload.ts';

const SECONDS_PER_MONTH = 30 * 24 * 3_600;
const POLLS_PER_MAPPING_MONTH = 650_000;

/** The usage of a run, in billed units. */
export function usageOfRun({ tally, parts }: Pick<Run, 'tally' | 'parts'>, connectionMinutes: number): Usage {
  return scaleUsage(
    {
      gatewayMessagesIn: tally.framesIn,
      gatewayMessagesOut: tally.replies + tally.posts,
      connectionMinutes: connectionMinutes / parts,
      lambdaRequests: tally.invocations,
      lambdaGigabyteSeconds: (tally.billedMs / 1_000) * (MEMORY_MEGABYTES / 1_024),
      dynamodbReadUnits: tally.readUnits,
      dynamodbWriteUnits: tally.writeUnits,
      sqsFifoRequests: tally.fifoRequests,
      dataTransferOutBytes: tally.bytesOut,
    },
    parts,
  );
}

/** A month of the same, including the polling of both queues. */
export function monthOf(workload: SimulatedWorkload, run: Run): Bill {
  const minutes = (workload.connections * run.seconds) / 60;
  const month = scaleUsage(usageOfRun(run, minutes), SECONDS_PER_MONTH / run.seconds);
  return billOf(
    usage({ ...month, sqsFifoPolls: POLLS_PER_MAPPING_MONTH, sqsStandardPolls: POLLS_PER_MAPPING_MONTH }),
  );
}
