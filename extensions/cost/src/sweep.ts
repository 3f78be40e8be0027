import { READ_UNIT_BYTES, SWEPT } from './budgets.ts';
import { type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** Passes over the table of sessions, and over that of messages (docs/data-model.md, "The sweep"). */
export const SESSION_PASSES_PER_DAY = 144;
export const MESSAGE_PASSES_PER_DAY = 1;

/** A scan is eventually consistent, which costs half, and is billed by all that it reads. */
const SCANNED_BYTES_PER_UNIT = 2 * READ_UNIT_BYTES;

/** DynamoDB's storage is billed by 2^30 bytes. */
const STORED_GIGABYTE_BYTES = 2 ** 30;

/** The days for which the name of a QoS 2 message is stored. */
const COPY_NAME_DAYS = 7;

/** The sweep's reads of both tables, and the storage of the workload's stored gigabytes. */
export function sweep(workload: Workload, rates: Rates): Operation {
  const { days, storedGigabytes } = workload;
  const passes = SESSION_PASSES_PER_DAY * days;
  const reads =
    passes * sessionsTableBytes(workload, rates) +
    MESSAGE_PASSES_PER_DAY * days * messagesTableBytes(workload, rates);
  return {
    name: 'sweep',
    count: passes,
    usage: addUsage(
      units(reads / SCANNED_BYTES_PER_UNIT, { reads: 1, writes: 0 }),
      usage({ dynamodbStorageGigabyteMonths: storedGigabytes }),
    ),
  };
}

/** Average numbers: sessions that are connected or persistent, and remains of connections of the last hour. */
function sessionsTableBytes(workload: Workload, rates: Rates): number {
  const { clients, hours, days, persistentShare } = workload;
  const sessions = clients * (persistentShare + (1 - persistentShare) * (hours / 24));
  const endedPerHour = (rates.connects + rates.moves + rates.resumes) / (days * 24);
  return sessions * SWEPT.sessionBytes + endedPerHour * SWEPT.endedBytes;
}

function messagesTableBytes(workload: Workload, { deliveries }: Rates): number {
  const { clients, days, qos, storedGigabytes, subscriptions } = workload;
  const copyNames = qos === 2 ? (deliveries / days) * COPY_NAME_DAYS : 0;
  return (
    clients * subscriptions * SWEPT.filterBytes +
    copyNames * SWEPT.copyNameBytes +
    storedGigabytes * STORED_GIGABYTE_BYTES
  );
}
