import { type FieldsOf, numbersFrom, SimulationError } from './fields.ts';

/** The clients' workload. Every number but `connections` has a default. */
export interface SimulatedWorkload {
  readonly connections: number;
  readonly messagesPerSecond: number;
  /** Messages in total, published at once instead of at a rate. 0: there is a rate. */
  readonly messagesOnce: number;
  readonly publishers: number;
  readonly recipients: number;
  /** Topics of the messages; each publisher has its own, or all share one. */
  readonly topics: number;
  readonly qos: 0 | 1;
  readonly payloadBytes: number;
  /** Filter shapes that match a topic. */
  readonly shapes: number;
  /** Simulated time that is measured. */
  readonly seconds: number;
  /** Simulated time before it. */
  readonly warmUpSeconds: number;
  /** The time within which one message has to reach all subscribers. */
  readonly deliverWithinSeconds: number;
  /** Jobs of wide filters that a worker is given at most. */
  readonly fanOutBatchSize: number;
  readonly seed: number;
}

const BILLION = 1_000_000_000;

export const WORKLOAD_FIELDS: FieldsOf<SimulatedWorkload> = {
  connections: { help: 'Clients that are connected.', least: 1, most: BILLION, isWhole: true },
  messagesPerSecond: {
    help: 'Messages that all publishers together publish in a second.',
    least: 0,
    most: 10_000_000,
    preset: 0,
  },
  messagesOnce: {
    help: 'Messages published at one moment, instead of a rate.',
    least: 0,
    most: 100_000,
    preset: 0,
    isWhole: true,
  },
  publishers: {
    help: 'Clients that publish. Default: half of the connections.',
    least: 1,
    most: BILLION,
    isWhole: true,
  },
  recipients: { help: 'Recipients of a message.', least: 1, most: 10_000_000, preset: 1, isWhole: true },
  topics: {
    help: 'Topics that messages are spread over. Default: one for each publisher.',
    least: 1,
    most: BILLION,
    isWhole: true,
  },
  qos: {
    help: 'QoS of messages, 0 or 1; sessions end with their connections.',
    least: 0,
    most: 1,
    preset: 1,
    isWhole: true,
  },
  payloadBytes: { help: 'Payload of a message.', least: 0, most: 24_000, preset: 256, isWhole: true },
  shapes: { help: 'Filter shapes that fit a topic.', least: 1, most: 64, preset: 2, isWhole: true },
  seconds: { help: 'Simulated time that is measured.', least: 1, most: 86_400, preset: 20 },
  warmUpSeconds: {
    help: 'Simulated time before it, in which the rate is there already.',
    least: 0,
    most: 86_400,
    preset: 10,
  },
  deliverWithinSeconds: {
    help: 'With --messages-once: when everybody should have it.',
    least: 1,
    most: 86_400,
    preset: 10,
  },
  fanOutBatchSize: {
    help: 'Jobs of wide filters that a worker is given at most (infra/lib/defaults.ts).',
    least: 1,
    most: 10,
    preset: 10,
    isWhole: true,
  },
  seed: {
    help: 'The seed of every random choice.',
    least: 0,
    most: 2_147_483_647,
    preset: 1,
    isWhole: true,
  },
};

/**
 * Fills the defaults in.
 *
 * @throws {SimulationError} for a field that is unknown, missing or out of its range
 */
export function workloadFrom(given: unknown): SimulatedWorkload {
  const read = numbersFrom(WORKLOAD_FIELDS, given, '{"connections": 1000, "messagesPerSecond": 100}');
  if (read.connections === undefined) {
    throw new SimulationError('A workload needs the number of its connections');
  }
  const publishers = read.publishers ?? Math.max(1, Math.floor(read.connections / 2));
  const workload = { ...read, publishers, topics: read.topics ?? publishers } as SimulatedWorkload;
  if (workload.messagesPerSecond > 0 === workload.messagesOnce > 0) {
    throw new SimulationError('A workload needs "messagesPerSecond" or "messagesOnce", and not both');
  }
  return workload;
}
