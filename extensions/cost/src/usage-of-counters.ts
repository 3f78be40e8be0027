import { type Usage, usage } from './usage.ts';

/** The billed part of the emulator's counters; `counters.snapshot()` of `@apus/emulator` contains it. */
export interface GatewayCounters {
  readonly messages: {
    readonly in: Tally;
    readonly replies: Tally;
    readonly posts: Tally;
    readonly errors: Tally;
  };
  readonly connections: { readonly milliseconds: number };
  readonly lambda: { readonly invocations: number; readonly gigabyteSeconds: number };
  /** Absent if there are no queues. */
  readonly sqs?: {
    /** All requests, polls that found nothing included. */
    readonly billed: ByQueue;
    readonly idlePolls: ByQueue;
  };
}

interface ByQueue {
  readonly standard: number;
  readonly fifo: number;
}

interface Tally {
  /** By 32 KB begun. */
  readonly billed: number;
  readonly bytes: number;
}

/** The billed part of the DynamoDB meter; `stores.meter.units` of `@apus/store-dynamodb` contains it. */
export interface RequestUnits {
  readonly reads: number;
  readonly writes: number;
}

const MILLISECONDS_PER_MINUTE = 60_000;

/**
 * The usage of the gateway door, from its counters. Connection-minutes are counted by the millisecond; a provider that
 * rounds each connection up bills more for short ones. Usage that no counter sees (logs, fixed monthly lines)
 * is left at zero: add it with `addUsage`.
 */
export function usageOf(
  { messages, connections, lambda, sqs }: GatewayCounters,
  units?: RequestUnits,
): Usage {
  const out = [messages.replies, messages.posts, messages.errors];
  return usage({
    gatewayMessagesIn: messages.in.billed,
    gatewayMessagesOut: sum(out, 'billed'),
    connectionMinutes: connections.milliseconds / MILLISECONDS_PER_MINUTE,
    lambdaRequests: lambda.invocations,
    lambdaGigabyteSeconds: lambda.gigabyteSeconds,
    dynamodbReadUnits: units?.reads ?? 0,
    dynamodbWriteUnits: units?.writes ?? 0,
    sqsStandardRequests: (sqs?.billed.standard ?? 0) - (sqs?.idlePolls.standard ?? 0),
    sqsFifoRequests: (sqs?.billed.fifo ?? 0) - (sqs?.idlePolls.fifo ?? 0),
    sqsStandardPolls: sqs?.idlePolls.standard ?? 0,
    sqsFifoPolls: sqs?.idlePolls.fifo ?? 0,
    dataTransferOutBytes: sum(out, 'bytes'),
  });
}

function sum(tallies: readonly Tally[], name: keyof Tally): number {
  return tallies.reduce((total, tally) => total + tally[name], 0);
}
