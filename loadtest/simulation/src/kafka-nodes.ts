import type { Command } from './command-line.ts';
import { type FieldsOf, numbersFrom } from './fields.ts';
import { Random } from './random.ts';

/*
 * Nodes that read Kafka, at loads that are too high for this machine. Each subscriber has its own key, and gets one
 * message a second. A node is one station that takes the waiting records, and serves them one by one.
 */

/** Microseconds of a turn with records, and of a record in it: 80 alone, 20 in a backlog (loadtest/results/kafka.md). */
const TURN_US = 60;
const RECORD_US = 20;
/** From the producer to the node: `acks=all`, and the fetch that waits for it. */
const KAFKA_US = 3_000;
/**
 * The garbage collector pauses a node for this long after this many delivered messages, with a kilobyte of garbage
 * each.
 */
const PAUSE_US = 12_000;
const DELIVERIES_A_PAUSE = 16_000;
/** Records of a fetch at most. */
const FETCH_RECORDS_MAX = 500;
/** Simulated time, after a second that is not counted. */
const SECONDS = 20;
const SECOND_US = 1_000_000;
/** Within this time any node that keeps up has caught up after a pause. */
const LATE_US = 200_000;

export interface SimulatedNode {
  readonly users: number;
  /** Milliseconds from the producer to the subscriber. */
  readonly mean: number;
  readonly p99: number;
  /** The busy part of one core. */
  readonly busy: number;
  readonly keepsUp: boolean;
}

/** @param users each is sent one message a second */
export function simulateNode(users: number, random: Random): SimulatedNode {
  const latencies: number[] = [];
  const endUs = (SECONDS + 1) * SECOND_US;
  const gapUs = SECOND_US / users;
  let nextUs = 0;
  let freeUs = 0;
  let busyUs = 0;
  let delivered = 0;
  const arrive = (): number => {
    nextUs += -Math.log(1 - random.next()) * gapUs;
    return nextUs;
  };
  let arrivedUs = arrive();
  while (arrivedUs < endUs) {
    const beganUs = Math.max(freeUs, arrivedUs);
    let nowUs = beganUs + TURN_US;
    // A turn serves the records that have come when it begins.
    for (let count = 0; arrivedUs <= beganUs && count < FETCH_RECORDS_MAX; count += 1) {
      nowUs += RECORD_US;
      delivered += 1;
      if (delivered % DELIVERIES_A_PAUSE === 0) nowUs += PAUSE_US;
      if (arrivedUs > SECOND_US) latencies.push(KAFKA_US + nowUs - arrivedUs);
      arrivedUs = arrive();
    }
    busyUs += nowUs - beganUs;
    freeUs = nowUs;
  }
  latencies.sort((one, other) => one - other);
  const mean = latencies.reduce((sum, each) => sum + each, 0) / latencies.length;
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  return {
    users,
    mean: mean / 1e3,
    p99: p99 / 1e3,
    busy: Math.min(1, busyUs / endUs),
    keepsUp: p99 < LATE_US,
  };
}

const SIZES = [1_000, 5_000, 10_000, 20_000, 30_000, 40_000, 50_000];

/** A table: nodes for so many users, by how many each has. */
export function kafkaNodes(users: number, seed: number): string {
  const rows = SIZES.map((each) => {
    const node = simulateNode(each, new Random(seed));
    const times = node.keepsUp ? `${node.mean.toFixed(1)} | ${node.p99.toFixed(1)}` : 'does not keep up | ';
    const nodes = Math.ceil(users / each).toLocaleString('en');
    return `| ${each.toLocaleString('en')} | ${nodes} | ${times} | ${Math.round(node.busy * 100)} % |`;
  });
  return [
    '| users of a node | nodes | mean, ms | p99, ms | of a core |',
    '|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

interface KafkaUsers {
  readonly users: number;
  readonly seed: number;
}

const FIELDS: FieldsOf<KafkaUsers> = {
  users: {
    help: 'Subscribers of all nodes together. Each has a key of its own, and gets one message a second.',
    least: 1,
    most: 1_000_000_000,
    preset: 1_000_000,
    isWhole: true,
  },
  seed: { help: 'Of the random numbers.', least: 0, most: 1_000_000_000, preset: 1, isWhole: true },
};

const USAGE = `npm run simulate -- kafka-nodes [FLAGS]

Predicts how late records of Kafka come to subscribers of nodes, by how many subscribers a node has, and how many nodes
that makes. The costs of a record are those that were measured (loadtest/results/kafka.md).

Example: npm run simulate -- kafka-nodes --users 1000000
`;

export const KAFKA_NODES_COMMAND: Command<KafkaUsers> = {
  usage: USAGE,
  fields: FIELDS,
  simulate(given, _quotas, isJson) {
    const { users = 0, seed = 0 } = numbersFrom(FIELDS, given, '{"users": 1000000}');
    return isJson ? SIZES.map((each) => simulateNode(each, new Random(seed))) : kafkaNodes(users, seed);
  },
};
