import { billOf, usage, WORKLOAD_FIELDS } from '@apus/cost';
import type { Measurement } from './measure.ts';

/** A row of the table as text: a comparison of two rows compares the figures that a reader sees. */
export interface Row {
  readonly name: string;
  /** Exact: what changes here changes the bill. In the order of `EXACT_COLUMNS`. */
  readonly exact: readonly string[];
  /** Milliseconds of CPU of the handlers, as measured on one machine. */
  readonly cpuMs: string;
}

export const EXACT_COLUMNS = [
  'messages in',
  'out',
  'read units',
  'write units',
  'SQS requests',
  'invocations',
  '$ / M',
  'floor',
  'ratio',
] as const;

/** What `apus cost` assumes of an invocation, unless it is told otherwise. */
export const FRAME_MS = WORKLOAD_FIELDS.frameMs.preset ?? Number.NaN;
export const POST_MS = WORKLOAD_FIELDS.postMs.preset ?? Number.NaN;
export const MEMORY_MEGABYTES = WORKLOAD_FIELDS.memoryMegabytes.preset ?? Number.NaN;

const MILLION = 1_000_000;

/** Prices a measurement: dollars for a million deliveries, or for a million of what delivers nothing. */
export function rowOf({ operation, counted }: Measurement, cpuMs: number | undefined): Row {
  const { deliveries, floor } = operation;
  const perMillion = (usd: number) => (usd * MILLION) / Math.max(1, deliveries);
  const usd = perMillion(usdOf(counted));
  const floorUsd = perMillion(
    billOf(usage({ gatewayMessagesIn: floor.in, gatewayMessagesOut: floor.out })).usd,
  );
  return {
    name: operation.name,
    exact: [
      text(counted.messagesIn),
      text(counted.messagesOut),
      text(counted.readUnits),
      text(counted.writeUnits),
      text(counted.sqsFifoRequests + counted.sqsStandardRequests),
      text(counted.invocations),
      usd.toFixed(2),
      floorUsd.toFixed(2),
      floorUsd === 0 ? '' : (usd / floorUsd).toFixed(2),
    ],
    cpuMs: cpuMs === undefined ? '' : shortNumber(cpuMs),
  };
}

/** All that is billed for it but connection-minutes and logs. */
export function usdOf(counted: Measurement['counted']): number {
  const { invocations, posts } = counted;
  // The first post is within the time of the invocation that makes it.
  const milliseconds = invocations * FRAME_MS + Math.max(0, posts - 1) * POST_MS;
  return billOf(
    usage({
      gatewayMessagesIn: counted.messagesIn,
      gatewayMessagesOut: counted.messagesOut,
      lambdaRequests: invocations,
      lambdaGigabyteSeconds: (milliseconds / 1_000) * (MEMORY_MEGABYTES / 1_024),
      dynamodbReadUnits: counted.readUnits,
      dynamodbWriteUnits: counted.writeUnits,
      sqsFifoRequests: counted.sqsFifoRequests,
      sqsStandardRequests: counted.sqsStandardRequests,
      dataTransferOutBytes: counted.bytesOut,
    }),
  ).usd;
}

function text(quantity: number): string {
  return quantity.toLocaleString('en', { maximumFractionDigits: 1 });
}

function shortNumber(milliseconds: number): string {
  return milliseconds.toLocaleString('en', { maximumSignificantDigits: 2 });
}
