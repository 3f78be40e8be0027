import {
  MEASURED_BUDGETS as BUDGETS,
  INLINE_PAYLOAD_BYTES_MAX,
  METERING_WRITES_PER_MESSAGE,
  NARROW_RECIPIENTS_MAX,
  READ_UNIT_BYTES,
  SHARD_READS_PER_SUBSCRIBER,
  SHARD_SUBSCRIBERS,
  SHARDS_MAX,
  SLICE_RECIPIENTS,
} from './budgets.ts';
import { exchanges, frameBytes, invocations, type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, type Usage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** PUBACK, PUBREC, PUBREL and PUBCOMP with MQTT 5's reason code: MQTT bytes. */
const ACKNOWLEDGEMENT_BYTES = 5;

/** A QoS 2 message is stored as pending, then as done, and deleted at PUBREL. */
const QOS_2_RECEIPT_WRITES = 3;

/** MQTT bytes that are gathered for one reply: billed as one message. */
const REPLY_BYTES_MAX = 24_558;

/** SQS: entries of one request. */
const BATCH_ENTRIES_MAX = 10;

export function messageOperations(workload: Workload, rates: Rates): readonly Operation[] {
  return [
    publish(workload, rates),
    deliver(workload, rates),
    fanOut(workload, rates),
    keep(workload, rates),
    drain(workload, rates),
  ];
}

/** Messages that are kept until they are acknowledged, and the part of them whose client is away. */
function stateful({ qos, persistentShare, offlineShare }: Workload, { deliveries }: Rates) {
  // QoS 0 is never stored; at QoS 2 even a session that ends with its connection keeps state.
  const persistent = qos === 0 ? 0 : deliveries * persistentShare;
  const offline = persistent * offlineShare;
  const online = qos === 2 ? deliveries - offline : persistent - offline;
  return { persistent, online, offline };
}

/** Messages that reach a client which is connected: at QoS 0 an offline client gets nothing. */
export function onlineDeliveries(workload: Workload, rates: Rates): number {
  return rates.deliveries * (1 - workload.persistentShare * workload.offlineShare);
}

/** Frames with a PUBLISH, their answers, and the reads that find the recipients. */
function publish(workload: Workload, rates: Rates): Operation {
  const { qos, shapes } = workload;
  const frames = rates.publishes / rates.packing;
  const trips = qos === 2 ? 2 : 1;
  const answers = rates.isAnswered ? frames * trips : 0;
  const answerBytes = qos === 0 ? 0 : ACKNOWLEDGEMENT_BYTES * rates.packing;
  const { reads, writes } = BUDGETS.publishFrame;
  return {
    name: 'publish',
    count: rates.publishes,
    usage: addUsage(
      exchanges(frames * trips, workload, { answers, answerBytes }),
      units(frames, { reads: reads + shapes + rates.leaseReadsPerFrame, writes }),
      units(frames * (trips - 1), { reads: 1, writes: 0 }),
      units(rates.publishes, { reads: 0, writes: METERING_WRITES_PER_MESSAGE }),
      qos === 2 ? units(rates.publishes, { reads: 0, writes: QOS_2_RECEIPT_WRITES }) : {},
    ),
  };
}

/** Posts to connected clients. The first few take no more time than the frame that caused them. */
function deliver(workload: Workload, rates: Rates): Operation {
  const { qos, postMs } = workload;
  const messages = onlineDeliveries(workload, rates);
  const posts = messages / rates.packing;
  const frames = rates.publishes / rates.packing;
  // The first recipient's post is within the frame's own time.
  const furtherPosts = Math.max(0, posts - frames);
  const trips = qos === 2 ? 2 : 1;
  const bytes = frameBytes(rates.packetBytes * rates.packing);
  return {
    name: 'deliver',
    count: messages,
    usage: addUsage(
      usage({ gatewayMessagesOut: posts, dataTransferOutBytes: posts * bytes }),
      // PUBREC comes as a frame and is answered by PUBREL in its reply.
      usage({ gatewayMessagesOut: posts * (trips - 1) }),
      invocationTime(furtherPosts * postMs, workload),
    ),
  };
}

/** With more than a few recipients workers deliver to the rest: a job for each shard, a claim for each slice. */
function fanOut(workload: Workload, rates: Rates): Operation {
  const recipients = Math.max(0, workload.fanOut - NARROW_RECIPIENTS_MAX);
  const frames = recipients > 0 ? rates.publishes / rates.packing : 0;
  const shards = Math.min(SHARDS_MAX, 2 ** Math.ceil(Math.log2(Math.max(1, recipients / SHARD_SUBSCRIBERS))));
  const jobs = frames * shards;
  const sends = frames * Math.ceil(shards / BATCH_ENTRIES_MAX);
  return {
    name: 'fan-out',
    count: jobs,
    usage: addUsage(
      // A job is sent together with others, received, and deleted.
      usage({ sqsFifoRequests: sends + 2 * jobs }),
      invocations(jobs, workload.frameMs, workload),
      units(frames, {
        reads: recipients * SHARD_READS_PER_SUBSCRIBER,
        writes: shards * Math.ceil(recipients / shards / SLICE_RECIPIENTS),
      }),
    ),
  };
}

/** Messages stored for connected clients until they acknowledge them. */
function keep(workload: Workload, rates: Rates): Operation {
  const { online } = stateful(workload, rates);
  const trips = workload.qos === 2 ? 2 : 1;
  const frames = (online / rates.packing) * trips;
  return {
    name: 'keep',
    count: online,
    usage: addUsage(
      units(online, workload.qos === 2 ? BUDGETS.exactlyOnceOnline : BUDGETS.persistentOnline),
      units(storedBodies(workload, rates), { reads: 0, writes: bodyWrites(workload) }),
      // Acknowledgements travel in frames that want no reply; PUBREC's is the exception, counted with the PUBREL.
      exchanges(frames, workload, { answers: 0, answerBytes: 0 }),
      units(frames, rates.packing > 1 ? BUDGETS.acknowledgeFrame : BUDGETS.acknowledgeAlone),
      units(online * trips, BUDGETS.acknowledge),
    ),
  };
}

/** Messages that wait for offline clients, which fetch them a page at a time when they return. */
function drain(workload: Workload, rates: Rates): Operation {
  const { offline } = stateful(workload, rates);
  const trips = workload.qos === 2 ? 2 : 1;
  const perPage = Math.max(1, Math.floor(REPLY_BYTES_MAX / rates.packetBytes));
  const pages = offline / perPage;
  return {
    name: 'drain',
    count: offline,
    usage: addUsage(
      units(offline, workload.qos === 2 ? BUDGETS.exactlyOnceOffline : BUDGETS.persistentOffline),
      units(offline, workload.qos === 2 ? BUDGETS.exactlyOnceDraw : BUDGETS.draw),
      units(offline, { reads: rates.packetBytes / READ_UNIT_BYTES, writes: 0 }),
      exchanges(pages * trips, workload, { answerBytes: rates.packetBytes * perPage }),
      units(pages * trips, BUDGETS.acknowledgeFrame),
      units(offline * trips, BUDGETS.acknowledge),
    ),
  };
}

/** A payload over a kilobyte is stored once for all of a message's recipients. */
function storedBodies(workload: Workload, rates: Rates): number {
  const { persistent, online } = stateful(workload, rates);
  if (workload.bytes <= INLINE_PAYLOAD_BYTES_MAX) return 0;
  return Math.min(rates.publishes, Math.max(persistent, online));
}

function bodyWrites({ bytes }: Workload): number {
  return Math.ceil(bytes / INLINE_PAYLOAD_BYTES_MAX);
}

/** Time of environments that run anyway. */
function invocationTime(milliseconds: number, { memoryMegabytes }: Workload): Usage {
  return usage({ lambdaGigabyteSeconds: (milliseconds / 1_000) * (memoryMegabytes / 1_024) });
}
