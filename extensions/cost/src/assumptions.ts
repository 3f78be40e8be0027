import { NARROW_RECIPIENTS_MAX, POLLS_PER_MAPPING_MONTH } from './budgets.ts';
import { inEnglish, inEnglishOfTwoDigits } from './english.ts';
import { PRICE_BOOK_DATE, PRICE_BOOK_REGION } from './price-book.ts';
import type { Rates } from './rates.ts';
import type { Workload } from './workload.ts';

/** The assumptions of an estimate, so that a reader can find the wrong ones. */
export function assumptionsOf(workload: Workload, rates: Rates): readonly string[] {
  return [
    `List prices of ${PRICE_BOOK_REGION}, read in ${PRICE_BOOK_DATE}, without free tiers, discounts and taxes; a month of ${workload.days} days.`,
    `Each client connects ${times(workload.connectsPerDay)} a day and moves ${times(workload.movesPerDay)} to another connection; API Gateway ends a connection after two hours.`,
    ...lossSentences(workload),
    'Clients use the Apus transport: one frame in flight, a ping only after nine minutes without a frame that is answered, no PUBACK where nothing is kept.',
    packingSentence(workload, rates),
    `An invocation takes ${inEnglish(workload.frameMs)} ms at ${inEnglish(workload.memoryMegabytes)} MB on arm64, each post beyond the first ${inEnglish(workload.postMs)} ms more; cold starts are left out.`,
    `${inEnglish(workload.shapes)} filter shapes fit a topic, and DynamoDB is used as loadtest/results/operations.md has it.`,
    `The first ${NARROW_RECIPIENTS_MAX} recipients of a filter are served by the frame itself, others by workers behind a FIFO queue.`,
    ...streamSentences(workload),
    ...integrationSentences(workload),
    storageSentence(workload),
    'The sweep reads the sessions every ten minutes and the messages once a day; storage of sessions is negligible.',
    logSentence(workload),
    ...standingSentences(workload),
    `${workload.fifoQueues + workload.standardQueues} event source mappings poll their queues ${inEnglish(POLLS_PER_MAPPING_MONTH)} times a month each.`,
  ];
}

function lossSentences({ lossesPerDay, resumedShare }: Workload): readonly string[] {
  if (lossesPerDay === 0) return ['No connection is lost (--losses-per-day).'];
  const resumed = Math.round(resumedShare * 100);
  return [
    `Each client loses its connection ${times(lossesPerDay)} a day: ${resumed}% of the sessions are resumed within a minute, the other clients connect anew. Messages kept for a client meanwhile are left out; other services are charged a CONNECT and a SUBSCRIBE for each.`,
  ];
}

function packingSentence({ packetsPerFrame, replyMs }: Workload, { packing }: Rates): string {
  const count = inEnglishOfTwoDigits(packing);
  const frames =
    packing === 1 ? 'each PUBLISH has a frame of its own' : `${count} PUBLISH packets share a frame`;
  if (packetsPerFrame !== undefined) return `${frames}, as given.`;
  return `Publishes are spread evenly and a reply takes ${inEnglish(replyMs)} ms: ${frames}, on the way in and out.`;
}

function storageSentence({ storedGigabytes }: Workload): string {
  const others = 'no will fires, no subscription is shared.';
  if (storedGigabytes === 0) return `Nothing is retained (--stored-gigabytes), ${others}`;
  return `${inEnglish(storedGigabytes)} GB of messages are retained or wait; ${others}`;
}

function streamSentences(workload: Workload): readonly string[] {
  const { streamShare, snapshotShare, recoveriesPerDay, recoveredMessages } = workload;
  const { snapshotsPerDay, snapshotKeys, streamGigabytes } = workload;
  if (streamShare + recoveriesPerDay + snapshotsPerDay + streamGigabytes === 0) return [];
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  return [
    `${percent(streamShare)} of the messages are of streams, ${percent(snapshotShare)} of these with a snapshot, and no topic has more than ten of them a second: a busier one is appended to in more writes (docs/streams.md).`,
    `Beside its other SUBSCRIBEs each client is sent ${inEnglish(recoveredMessages)} missed messages ${times(recoveriesPerDay)} a day, and the last values of ${inEnglish(snapshotKeys)} keys ${times(snapshotsPerDay)}; ${inEnglish(streamGigabytes)} GB of history are kept. Other services are charged nothing for that.`,
  ];
}

function integrationSentences(workload: Workload): readonly string[] {
  const { kafkaRecordsPerHour, kafkaRecordsPerEvent, ruleShare } = workload;
  const { iotMessagesPerHour, iotMessagesPerEvent } = workload;
  const kafka = `${inEnglish(kafkaRecordsPerHour)} records of Kafka come in an hour, ${inEnglish(kafkaRecordsPerEvent)} in an event of Lambda; each takes as long as a frame and is posted to each recipient. The cluster is left out, and other services are charged nothing for records.`;
  const iotCore = `${inEnglish(iotMessagesPerHour)} messages of AWS IoT Core come in an hour, each by one rule with one action, and ${inEnglish(iotMessagesPerEvent)} in an event of Lambda; each takes as long as a frame and is posted to each recipient. The devices' own messages and connections are left out.`;
  const rules = `A message is for ${inEnglish(ruleShare)} rules on average. Each is a message of a FIFO queue, and a call on the target as long as a frame; the target is left out, and other services are charged nothing for it.`;
  return [
    ...(kafkaRecordsPerHour > 0 ? [kafka] : []),
    ...(iotMessagesPerHour > 0 ? [iotCore] : []),
    ...(ruleShare > 0 ? [rules] : []),
  ];
}

function logSentence({ logBytesPerFrame }: Workload): string {
  if (logBytesPerFrame > 0) return `Each invocation logs ${inEnglish(logBytesPerFrame)} bytes.`;
  return 'Nothing is logged for a frame: 2 KB of log for each would cost as much as the frame itself.';
}

/** The defaults of a deployment that a bill of traffic does not ask about. */
function standingSentences({ secrets, alarms, dashboards }: Workload): readonly string[] {
  if (secrets + alarms + dashboards > 0) return [];
  return [
    "A deployment's secret, alarms, metrics and dashboard are left out: less than $10 a month, most of it free of charge in an account without others (docs/deploy-operations.md).",
  ];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${inEnglish(count)} times`;
}
