import { METERING_WRITES_PER_MESSAGE, POLLS_PER_MAPPING_MONTH } from './budgets.ts';
import { frameBytes, invocations, type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

const HOURS_PER_DAY = 24;
/** SQS: entries of one request. */
const BATCH_ENTRIES_MAX = 10;

/** Messages that come from Kafka, and messages that leave by rules. */
export function integrationOperations(workload: Workload, rates: Rates): readonly Operation[] {
  return [kafka(workload, rates), rules(workload, rates)];
}

function recordsOf({ kafkaRecordsPerHour, days }: Workload): number {
  return kafkaRecordsPerHour * HOURS_PER_DAY * days;
}

/** Each record takes as long as a frame, finds its recipients as a frame does, and is posted to each. */
function kafka(workload: Workload, { packetBytes }: Rates): Operation {
  const { kafkaRecordsPerEvent, frameMs, shapes, fanOut } = workload;
  const records = recordsOf(workload);
  const posts = records * fanOut;
  return {
    name: 'kafka',
    count: records,
    usage: addUsage(
      invocations(records / kafkaRecordsPerEvent, frameMs * kafkaRecordsPerEvent, workload),
      units(records, { reads: shapes, writes: METERING_WRITES_PER_MESSAGE }),
      usage({ gatewayMessagesOut: posts, dataTransferOutBytes: posts * frameBytes(packetBytes) }),
    ),
  };
}

/** A message is sent to the queue with those of its frame, received and deleted, and its target is called for it alone. */
function rules(workload: Workload, { publishes, packing }: Rates): Operation {
  const { ruleShare, frameMs } = workload;
  const messages = (publishes + recordsOf(workload)) * ruleShare;
  const together = Math.min(BATCH_ENTRIES_MAX, Math.max(1, packing * ruleShare));
  return {
    name: 'rules',
    count: messages,
    usage: addUsage(
      usage({
        sqsFifoRequests: messages / together + 2 * messages,
        sqsFifoPolls: messages > 0 ? POLLS_PER_MAPPING_MONTH : 0,
      }),
      invocations(messages, frameMs, workload),
    ),
  };
}
