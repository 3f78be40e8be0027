/** A description of what clients do, from which a month is estimated. Every number has a default but `clients`. */
export interface Workload {
  readonly clients: number;
  readonly hours: number;
  readonly days: number;
  readonly connectsPerDay: number;
  readonly movesPerDay: number;
  readonly lossesPerDay: number;
  readonly resumedShare: number;
  readonly subscriptions: number;
  readonly publishesPerHour: number;
  readonly publisherShare: number;
  readonly fanOut: number;
  readonly qos: 0 | 1 | 2;
  readonly bytes: number;
  readonly topicBytes: number;
  readonly persistentShare: number;
  readonly offlineShare: number;
  readonly storedGigabytes: number;
  readonly streamShare: number;
  readonly snapshotShare: number;
  readonly recoveriesPerDay: number;
  readonly recoveredMessages: number;
  readonly snapshotsPerDay: number;
  readonly snapshotKeys: number;
  readonly streamGigabytes: number;
  readonly kafkaRecordsPerHour: number;
  readonly kafkaRecordsPerEvent: number;
  readonly iotMessagesPerHour: number;
  readonly iotMessagesPerEvent: number;
  readonly ruleShare: number;
  readonly shapes: number;
  /** Packets in one frame; undefined: as many as come together at this rate. */
  readonly packetsPerFrame: number | undefined;
  readonly replyMs: number;
  readonly memoryMegabytes: number;
  readonly frameMs: number;
  readonly postMs: number;
  readonly logBytesPerFrame: number;
  readonly fifoQueues: number;
  readonly standardQueues: number;
  readonly secrets: number;
  readonly kmsKeys: number;
  readonly dashboards: number;
  readonly alarms: number;
  readonly figuresPerHour: number;
}

/** One field of a workload: its meaning, and its allowed values. */
export interface WorkloadField {
  readonly help: string;
  readonly least: number;
  readonly most: number;
  readonly preset?: number;
  readonly isWhole?: boolean;
}

/** MQTT bytes of one frame from a client, or of its only packet (docs/text-frames.md, section 2). */
export const FRAME_BYTES_MAX = 24_573;

/** The packet that fits into a frame has topic and header as well. */
const PAYLOAD_BYTES_MAX = 24_000;

const BILLION = 1_000_000_000;

/** Every field, in the order in which they are explained. */
export const WORKLOAD_FIELDS: { readonly [K in keyof Workload]: WorkloadField } = {
  clients: { help: 'Clients that are online together.', least: 1, most: BILLION, isWhole: true },
  hours: { help: 'Hours a day that each of them is connected.', least: 0, most: 24, preset: 24 },
  days: { help: 'Days of the month.', least: 1, most: 31, preset: 30 },
  connectsPerDay: {
    help: 'CONNECTs of each client a day. Default: 1; with --moves-per-day 0 one for each two hours begun.',
    least: 1,
    most: 86_400,
  },
  movesPerDay: {
    help: 'Moves of each client a day, before the gateway ends a connection at two hours. Default: one in 103 minutes.',
    least: 0,
    most: 86_400,
  },
  lossesPerDay: {
    help: 'Connections of each client that the network ends in a day, without DISCONNECT.',
    least: 0,
    most: 86_400,
    preset: 0,
  },
  resumedShare: {
    help: 'Share of the lost connections whose session goes on within a minute, from 0 to 1; the others are followed by a CONNECT. Default: 1; with --moves-per-day 0 none.',
    least: 0,
    most: 1,
  },
  subscriptions: { help: 'Topic filters of each client.', least: 0, most: 10_000, preset: 1 },
  publishesPerHour: {
    help: 'Messages that each publisher publishes in an hour online.',
    least: 0,
    most: BILLION,
    preset: 0,
  },
  publisherShare: { help: 'Share of the clients that publish, from 0 to 1.', least: 0, most: 1, preset: 1 },
  fanOut: { help: 'Recipients of a message.', least: 0, most: BILLION, preset: 1 },
  qos: { help: 'QoS of messages and subscriptions.', least: 0, most: 2, preset: 0, isWhole: true },
  bytes: { help: 'Payload of a message.', least: 0, most: PAYLOAD_BYTES_MAX, preset: 200 },
  topicBytes: { help: 'Length of a topic name.', least: 1, most: 65_535, preset: 24 },
  persistentShare: {
    help: 'Share of the clients whose session outlives its connection, from 0 to 1.',
    least: 0,
    most: 1,
    preset: 0,
  },
  offlineShare: {
    help: 'Share of the messages to persistent sessions that find the client away, from 0 to 1.',
    least: 0,
    most: 1,
    preset: 0,
  },
  storedGigabytes: {
    help: 'GB of retained messages, and of messages that wait for clients.',
    least: 0,
    most: 1_000_000,
    preset: 0,
  },
  streamShare: {
    help: 'Share of the messages whose topic has a stream, from 0 to 1.',
    least: 0,
    most: 1,
    preset: 0,
  },
  snapshotShare: {
    help: 'Share of these whose stream keeps a snapshot, from 0 to 1.',
    least: 0,
    most: 1,
    preset: 0,
  },
  recoveriesPerDay: {
    help: 'SUBSCRIBEs of each client a day that bring messages of the past of a stream.',
    least: 0,
    most: 86_400,
    preset: 0,
  },
  recoveredMessages: { help: 'Messages that each of them brings.', least: 0, most: 1_000, preset: 10 },
  snapshotsPerDay: {
    help: 'SUBSCRIBEs of each client a day that bring a snapshot of a stream.',
    least: 0,
    most: 86_400,
    preset: 0,
  },
  snapshotKeys: { help: 'Keys of a snapshot.', least: 0, most: 1_000, preset: 100 },
  streamGigabytes: { help: 'GB of the history of streams.', least: 0, most: 1_000_000, preset: 0 },
  kafkaRecordsPerHour: {
    help: 'Records of Kafka that come in an hour, day and night.',
    least: 0,
    most: BILLION,
    preset: 0,
  },
  kafkaRecordsPerEvent: {
    help: 'Records of Kafka that Lambda gathers for an event.',
    least: 1,
    most: 1_000,
    preset: 10,
  },
  iotMessagesPerHour: {
    help: 'Messages that rules of AWS IoT Core bring in an hour, day and night.',
    least: 0,
    most: BILLION,
    preset: 0,
  },
  iotMessagesPerEvent: {
    help: 'Messages of IoT rules that Lambda gathers for an event.',
    least: 1,
    most: 10,
    preset: 1,
  },
  ruleShare: { help: 'Rules whose filter matches a message, on average.', least: 0, most: 64, preset: 0 },
  shapes: { help: 'Filter shapes that fit a topic (S).', least: 1, most: 64, preset: 2 },
  packetsPerFrame: {
    help: 'Packets that share a frame. Default: what a publisher writes while a reply is awaited.',
    least: 1,
    most: FRAME_BYTES_MAX,
  },
  replyMs: { help: 'Milliseconds until a frame is answered.', least: 1, most: 5_000, preset: 55 },
  memoryMegabytes: { help: 'Memory of the Lambda functions.', least: 128, most: 10_240, preset: 512 },
  frameMs: {
    help: 'Milliseconds of an invocation that handles a frame.',
    least: 1,
    most: 29_000,
    preset: 25,
  },
  postMs: {
    help: "Milliseconds of an environment's time for each further post.",
    least: 0,
    most: 1_000,
    preset: 1,
  },
  logBytesPerFrame: { help: 'Bytes of log for each invocation.', least: 0, most: 1_000_000, preset: 0 },
  fifoQueues: { help: 'Event source mappings of FIFO queues.', least: 0, most: 1_000, preset: 1 },
  standardQueues: { help: 'Event source mappings of standard queues.', least: 0, most: 1_000, preset: 1 },
  secrets: { help: 'Secrets in Secrets Manager.', least: 0, most: 1_000, preset: 0 },
  kmsKeys: { help: 'KMS keys of your own.', least: 0, most: 1_000, preset: 0 },
  dashboards: { help: 'CloudWatch dashboards.', least: 0, most: 1_000, preset: 0 },
  alarms: { help: 'CloudWatch alarms.', least: 0, most: 10_000, preset: 0 },
  figuresPerHour: {
    help: 'Times an hour that Prometheus, or an Admin view, asks a deployment for its metrics; further ones in a minute read nothing.',
    least: 0,
    most: 60,
    preset: 0,
  },
};

/** A workload that cannot be estimated; the message names the field and its allowed values. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError';
}

/** The given fields of a workload. `clients` is required. */
export type GivenWorkload = { readonly [K in keyof Workload]?: number | undefined };

const NAMES = Object.keys(WORKLOAD_FIELDS) as readonly (keyof Workload)[];

/** The age at which API Gateway ends a connection. */
const CONNECTION_HOURS_MAX = 2;

/** The transport moves the session at a random moment between 75 and 96 % of that (docs/text-frames.md, section 12). */
const MOVE_HOURS = (CONNECTION_HOURS_MAX * (0.75 + 0.96)) / 2;

/**
 * Fills the defaults in.
 *
 * @throws {WorkloadError} for a field that is unknown, missing or out of its range
 */
export function workloadFrom(given: unknown): Workload {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new WorkloadError('A workload is an object, as {"clients": 1000, "hours": 8}');
  }
  const fields: Readonly<Record<string, unknown>> = { ...given };
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(WORKLOAD_FIELDS, name))
      throw new WorkloadError(`"${name}" is no field of a workload. There are ${NAMES.join(', ')}`);
  }
  const read = Object.fromEntries(NAMES.map((name) => [name, fieldFrom(name, fields[name])]));
  const { hours } = read as { hours: number };
  const cuts = read.movesPerDay === 0 ? Math.ceil(hours / CONNECTION_HOURS_MAX) : 0;
  const connectsPerDay = read.connectsPerDay ?? Math.max(1, cuts);
  const movesPerDay = read.movesPerDay ?? connectsPerDay * Math.floor(hours / connectsPerDay / MOVE_HOURS);
  // A transport that does not move sessions does not resume them either.
  const resumedShare = read.resumedShare ?? (read.movesPerDay === 0 ? 0 : 1);
  return { ...read, connectsPerDay, movesPerDay, resumedShare } as Workload;
}

function fieldFrom(name: keyof Workload, value: unknown): number | undefined {
  const { least, most, preset, isWhole = false } = WORKLOAD_FIELDS[name];
  if (value === undefined || value === null) {
    if (name === 'clients') throw new WorkloadError('A workload needs the number of its clients');
    return preset;
  }
  const isFit = typeof value === 'number' && value >= least && value <= most;
  if (isFit && (!isWhole || Number.isInteger(value))) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new WorkloadError(
    `"${name}" is ${kind} from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}, not ${JSON.stringify(value)}`,
  );
}
