import { type FieldsOf, numbersFrom, SimulationError } from '../fields.ts';

export interface ClusterWorkload {
  readonly connections: number;
  /** Messages of all publishers together. */
  readonly messagesPerSecond: number;
  readonly recipients: number;
  /** Different filters that clients subscribe to. */
  readonly filters: number;
  readonly payloadBytes: number;
  readonly qos: number;
  readonly keepAliveSeconds: number;
  readonly connectionsPerProcessMax: number;
  readonly cpuShareMax: number;
  readonly engineShareMax: number;
  readonly coreSpeed: number;
}

export const CLUSTER_FIELDS: FieldsOf<ClusterWorkload> = {
  connections: {
    help: 'Clients that are connected.',
    least: 1,
    most: 100_000_000,
    preset: 2_000_000,
    isWhole: true,
  },
  messagesPerSecond: {
    help: 'Messages that all publishers send in a second.',
    least: 0.001,
    most: 100_000_000,
    preset: 100_000,
  },
  recipients: {
    help: 'Subscribers of each message, spread over the processes.',
    least: 1,
    most: 1_000_000,
    preset: 1,
    isWhole: true,
  },
  filters: {
    help: 'Different filters of all clients: each process keeps the list of all.',
    least: 1,
    most: 100_000_000,
    preset: 1_000_000,
    isWhole: true,
  },
  payloadBytes: { help: 'Payload of a message.', least: 0, most: 1_000_000, preset: 256, isWhole: true },
  qos: { help: 'QoS of publishers and subscribers, 0 or 1.', least: 0, most: 1, preset: 1, isWhole: true },
  keepAliveSeconds: {
    help: 'A client pings so often.',
    least: 1,
    most: 65_535,
    preset: 300,
    isWhole: true,
  },
  connectionsPerProcessMax: {
    help: 'Each is an open file, of which a task of Fargate has 65,535.',
    least: 100,
    most: 1_000_000,
    preset: 60_000,
    isWhole: true,
  },
  cpuShareMax: { help: 'Part of a core that a process may use.', least: 0.05, most: 0.95, preset: 0.5 },
  engineShareMax: { help: 'Part of its core that an engine may use.', least: 0.05, most: 0.95, preset: 0.75 },
  coreSpeed: {
    help: 'Speed of a core, that of the machine which measured the constants being 1.',
    least: 0.1,
    most: 10,
    preset: 1,
  },
};

/** @throws {SimulationError} for a field that is unknown, or out of its range */
export function clusterFrom(given: unknown): ClusterWorkload {
  const example = '{"connections": 2000000, "messagesPerSecond": 100000}';
  const workload = numbersFrom(CLUSTER_FIELDS, given, example) as ClusterWorkload;
  if (workload.filters > workload.connections * MANY_FILTERS)
    throw new SimulationError(`"filters" is at most ${MANY_FILTERS} for each connection`);
  return workload;
}

const MANY_FILTERS = 100;
