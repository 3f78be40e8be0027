import Papa from 'papaparse';
import type { Trouble } from '../../engine/types.ts';
import type { LatencyBucket, LatencySummary } from './latency-recorder.ts';
import type { BenchPlan } from './plan.ts';

/** One second of a run. */
export interface BenchSecond {
  readonly published: number;
  readonly received: number;
  /** Undefined if nothing was received. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

export type BenchPhase = 'connecting' | 'publishing' | 'draining' | 'done' | 'stopped' | 'failed';

/** The state of a run, or its result. */
export interface BenchSnapshot {
  readonly phase: BenchPhase;
  /** Connections that are open and subscribed. */
  readonly connected: number;
  readonly published: number;
  /** Publishes that the server acknowledged, at QoS 1 and 2; at QoS 0, written ones. */
  readonly acknowledged: number;
  readonly failed: number;
  /** Due messages that are not published, because too many are unacknowledged. */
  readonly behind: number;
  /** Expected deliveries of the published messages. */
  readonly expected: number;
  readonly received: number;
  /** Those that have not come; before the end they include messages in flight. */
  readonly missing: number;
  readonly duplicates: number;
  readonly outOfOrder: number;
  readonly latency: LatencySummary | undefined;
  readonly buckets: readonly LatencyBucket[];
  readonly seconds: readonly BenchSecond[];
  /** The reason of its failure. */
  readonly trouble: Trouble | undefined;
}

export interface BenchResult {
  readonly plan: BenchPlan;
  readonly url: string;
  readonly startedAt: string;
  readonly snapshot: BenchSnapshot;
}

/** The seconds of a run as CSV. */
export function secondsCsv(seconds: readonly BenchSecond[]): string {
  const rows = seconds.map((second, index) => ({
    second: index + 1,
    published: second.published,
    received: second.received,
    p50_ms: second.p50Ms,
    p99_ms: second.p99Ms,
    max_ms: second.maxMs,
  }));
  return `${Papa.unparse(rows)}\r\n`;
}

/** All data of a run, as JSON. */
export function resultJson(result: BenchResult): string {
  return `${JSON.stringify({ format: 'apus-bench', version: 1, ...result }, null, 2)}\n`;
}
