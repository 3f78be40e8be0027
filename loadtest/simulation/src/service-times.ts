import type { Latency } from './random.ts';

/** A time, and where it comes from. */
export interface SourcedLatency extends Latency {
  readonly source: string;
}

export interface ServiceTimes {
  /** From the gateway's receipt of a frame to the function, and from its result to the client's socket. */
  readonly gatewayHop: SourcedLatency;
  /** Processor time of a frame on a whole processor, in ms. */
  readonly frameCpuMs: number;
  /** The same for each further post of it. */
  readonly postCpuMs: number;
  readonly dynamoCall: SourcedLatency;
  readonly post: SourcedLatency;
  readonly sqsSend: SourcedLatency;
  readonly fifoToFunction: SourcedLatency;
  readonly coldStart: SourcedLatency;
  /** The share of a processor that a function of its memory has. */
  readonly processorShare: number;
}

/** Lambda gives a whole processor at this many megabytes. */
const MEGABYTES_PER_PROCESSOR = 1_769;

export const MEMORY_MEGABYTES = 512;

export const DEFAULT_SERVICE_TIMES: ServiceTimes = {
  gatewayHop: { p50Ms: 5, p99Ms: 20, source: 'assumed; no published figure' },
  frameCpuMs: 1.5,
  postCpuMs: 0.15,
  dynamoCall: { p50Ms: 4, p99Ms: 15, source: 'assumed: DynamoDB documents "single-digit milliseconds"' },
  post: {
    p50Ms: 10,
    p99Ms: 40,
    source: 'infra/lib/defaults.ts: "its answer some 10 ms away"; the tail is assumed',
  },
  sqsSend: { p50Ms: 8, p99Ms: 40, source: 'assumed; no published figure' },
  fifoToFunction: { p50Ms: 28, p99Ms: 645, source: 'published measurements of SQS FIFO to Lambda, 2022' },
  coldStart: {
    p50Ms: 1_000,
    p99Ms: 2_000,
    source: 'loadtest/results/cold-starts.md; the tail is assumed',
  },
  processorShare: MEMORY_MEGABYTES / MEGABYTES_PER_PROCESSOR,
};

/** Where the two times of processors come from. */
export const CPU_SOURCE =
  'npm run bench:cloud, a PUBLISH QoS 1 to 1: 1.0 ms without TLS, and half as much again for it; a post: infra/lib/defaults.ts';
