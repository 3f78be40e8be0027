import { billOf, usage, WORKLOAD_FIELDS } from '@apus/cost';
import { DEFAULT_SERVICE_TIMES } from '@apus/simulation';
import { USD_BEFORE } from './before.ts';
import type { Measurement } from './measure.ts';

/** A row of the table as text. A comparison of two rows compares the figures that a reader sees. */
export interface Row {
  readonly name: string;
  /** Exact figures, in the order of `EXACT_COLUMNS`: a change here changes the bill. */
  readonly exact: readonly string[];
  /** Times measured on one machine, which differ from run to run. In the order of `TIMED_COLUMNS`. */
  readonly timed: readonly string[];
}

export const EXACT_COLUMNS = [
  'messages in',
  'out',
  'read units',
  'write units',
  'SQS requests',
  'invocations',
  '$ / M',
  'before',
  'floor',
  'ratio',
] as const;

/**
 * `ms`: the measured duration, and the duration that the dollars of `$ / M` assume; then the dollars with the measured
 * one.
 */
export const TIMED_COLUMNS = ['CPU ms', 'ms', '$ / M by these'] as const;

/** Milliseconds of the handlers of one operation, all invocations together. */
export interface Times {
  readonly cpuMs: number | undefined;
  /** Waiting for services. */
  readonly waitsMs: number | undefined;
}

/** The defaults of `apus cost` for an invocation. */
export const FRAME_MS = WORKLOAD_FIELDS.frameMs.preset ?? Number.NaN;
export const POST_MS = WORKLOAD_FIELDS.postMs.preset ?? Number.NaN;
export const MEMORY_MEGABYTES = WORKLOAD_FIELDS.memoryMegabytes.preset ?? Number.NaN;

const MILLION = 1_000_000;

/** Prices a measurement: dollars for a million deliveries, or for a million operations that deliver nothing. */
export function rowOf({ operation, counted }: Measurement, { cpuMs, waitsMs }: Times = NOT_TIMED): Row {
  const { deliveries, floor } = operation;
  const perMillion = (usd: number) => (usd * MILLION) / Math.max(1, deliveries);
  const usd = perMillion(usdOf(counted));
  const floorUsd = perMillion(
    billOf(usage({ gatewayMessagesIn: floor.in, gatewayMessagesOut: floor.out })).usd,
  );
  const billedMs =
    cpuMs === undefined || waitsMs === undefined
      ? undefined
      : Math.round(waitsMs + cpuMs / DEFAULT_SERVICE_TIMES.processorShare);
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
      USD_BEFORE[operation.name] ?? '',
      floorUsd.toFixed(2),
      floorUsd === 0 ? '' : (usd / floorUsd).toFixed(2),
    ],
    timed: [
      cpuMs === undefined ? '' : shortNumber(cpuMs),
      billedMs === undefined ? '' : `${text(billedMs)} of ${text(assumedMs(counted))}`,
      billedMs === undefined ? '' : perMillion(usdOf(counted, billedMs)).toFixed(2),
    ],
  };
}

const NOT_TIMED: Times = { cpuMs: undefined, waitsMs: undefined };

/** The processor time in a row of the page. */
export function cpuMsOf({ timed: [cpu = ''] }: Row): number | undefined {
  return cpu === '' ? undefined : Number(cpu.replaceAll(',', ''));
}

/** The first post falls within the duration of the invocation that makes it. */
function assumedMs({ invocations, posts }: Measurement['counted']): number {
  return invocations * FRAME_MS + Math.max(0, posts - 1) * POST_MS;
}

/** Everything that is billed for the operation except connection-minutes and logs. */
export function usdOf(counted: Measurement['counted'], milliseconds = assumedMs(counted)): number {
  return billOf(
    usage({
      gatewayMessagesIn: counted.messagesIn,
      gatewayMessagesOut: counted.messagesOut,
      lambdaRequests: counted.invocations,
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
