import { MEASURED_BUDGETS as BUDGETS, READ_UNIT_BYTES, STREAM_BYTES, WRITE_UNIT_BYTES } from './budgets.ts';
import { onlineDeliveries } from './message-operations.ts';
import { exchanges, frameBytes, type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** The gateway bills a message for each 32 KB begun. */
const BILLED_BYTES = 32_768;

/** SUBACK with its positions: MQTT bytes. */
const SUBACK_BYTES = 80;

/** The costs of streams besides their publishes and deliveries: appending, reading history, and storing it. */
export function streamOperations(workload: Workload, rates: Rates): readonly Operation[] {
  const readers = workload.clients * workload.days;
  const recoveries = readers * workload.recoveriesPerDay;
  const snapshots = readers * workload.snapshotsPerDay;
  return [
    append(workload, rates),
    pastOf('recover', recoveries, workload.recoveredMessages, workload, rates),
    pastOf('snapshot', snapshots, workload.snapshotKeys, workload, rates),
    history(workload),
  ];
}

/** SUBSCRIBEs that return history. */
export function pastsOf({ clients, days, recoveriesPerDay, snapshotsPerDay }: Workload): number {
  return clients * days * (recoveriesPerDay + snapshotsPerDay);
}

/** A frame reads the end of the log once, and the subscribers once more; each message is a write. */
function append(workload: Workload, rates: Rates): Operation {
  const { streamShare, snapshotShare } = workload;
  const count = rates.publishes * streamShare;
  const writes = Math.ceil(storedBytes(rates) / WRITE_UNIT_BYTES);
  const live = onlineDeliveries(workload, rates) * streamShare;
  return {
    name: 'append',
    count,
    usage: addUsage(
      units(count / rates.packing, BUDGETS.appendFrame),
      units(count * writes, BUDGETS.append),
      units(count * writes * snapshotShare, BUDGETS.appendSnapshot),
      usage({ dataTransferOutBytes: live * frameBytes(STREAM_BYTES.liveProperties) }),
    ),
  };
}

/** A SUBSCRIBE in a frame of its own, and this many messages behind SUBACK. */
function pastOf(
  name: 'recover' | 'snapshot',
  count: number,
  messages: number,
  workload: Workload,
  rates: Rates,
): Operation {
  const sentBytes = SUBACK_BYTES + messages * (rates.packetBytes + STREAM_BYTES.pastProperties);
  const frames = Math.ceil(frameBytes(sentBytes) / BILLED_BYTES);
  const reads = Math.ceil((messages * storedBytes(rates)) / READ_UNIT_BYTES);
  return {
    name,
    count,
    usage: addUsage(
      exchanges(count, workload, { answers: count * frames, answerBytes: sentBytes / frames }),
      units(count, BUDGETS.readPast),
      units(count * reads, { reads: 1, writes: 0 }),
    ),
  };
}

function history({ streamGigabytes }: Workload): Operation {
  return {
    name: 'history',
    count: streamGigabytes,
    usage: usage({ dynamodbStorageGigabyteMonths: streamGigabytes }),
  };
}

/** Bytes of a message in the log, or as the last value of its key. */
function storedBytes({ packetBytes }: Rates): number {
  return packetBytes + STREAM_BYTES.stored;
}
