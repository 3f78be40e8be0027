import { IOT_METERED_BYTES, METERING_WRITES_PER_MESSAGE, POLLS_PER_MAPPING_MONTH } from './budgets.ts';
import { frameBytes, invocations, type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, type Usage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

const HOURS_PER_DAY = 24;
/** SQS: entries of one request. */
const BATCH_ENTRIES_MAX = 10;

/** Messages that come from Kafka and from AWS IoT Core, and messages that rules send. */
export function integrationOperations(workload: Workload, rates: Rates): readonly Operation[] {
  return [kafka(workload, rates), iotCore(workload, rates), rules(workload, rates)];
}

function inMonth(perHour: number, { days }: Workload): number {
  return perHour * HOURS_PER_DAY * days;
}

function kafka(workload: Workload, rates: Rates): Operation {
  const { kafkaRecordsPerHour, kafkaRecordsPerEvent } = workload;
  const records = inMonth(kafkaRecordsPerHour, workload);
  return { name: 'kafka', count: records, usage: published(records, kafkaRecordsPerEvent, workload, rates) };
}

/** A rule of IoT sends each message to the queue; receives and deletes are those of an event. */
function iotCore(workload: Workload, rates: Rates): Operation {
  const { iotMessagesPerHour, iotMessagesPerEvent } = workload;
  const messages = inMonth(iotMessagesPerHour, workload);
  const metered = messages * Math.ceil((workload.bytes + workload.topicBytes) / IOT_METERED_BYTES);
  return {
    name: 'iot-core',
    count: messages,
    usage: addUsage(
      published(messages, iotMessagesPerEvent, workload, rates),
      usage({
        iotRulesTriggered: metered,
        iotRuleActions: metered,
        sqsStandardRequests: messages + (2 * messages) / iotMessagesPerEvent,
        sqsStandardPolls: messages > 0 ? POLLS_PER_MAPPING_MONTH : 0,
      }),
    ),
  };
}

/** Each message takes as long as a frame, finds its recipients as a frame does, and is posted to each. */
function published(messages: number, perEvent: number, workload: Workload, { packetBytes }: Rates): Usage {
  const { frameMs, shapes, fanOut } = workload;
  const posts = messages * fanOut;
  return addUsage(
    invocations(messages / perEvent, frameMs * perEvent, workload),
    units(messages, { reads: shapes, writes: METERING_WRITES_PER_MESSAGE }),
    usage({ gatewayMessagesOut: posts, dataTransferOutBytes: posts * frameBytes(packetBytes) }),
  );
}

/**
 * The frame sends its messages to the queue; the function receives and deletes them, and calls the target for each
 * message alone.
 */
function rules(workload: Workload, { publishes, packing }: Rates): Operation {
  const { ruleShare, frameMs } = workload;
  const { kafkaRecordsPerHour, iotMessagesPerHour } = workload;
  const bridged = inMonth(kafkaRecordsPerHour + iotMessagesPerHour, workload);
  const messages = (publishes + bridged) * ruleShare;
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
