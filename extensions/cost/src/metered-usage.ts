import { USAGE_NAMES, type Usage, usage } from './usage.ts';
import { type GatewayCounters, type RequestUnits, usageOf } from './usage-of-counters.ts';

/** The input is no metered usage; the message says what was expected. */
export class UsageFormatError extends Error {
  override readonly name = 'UsageFormatError';
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the metered usage of a run: an object with kinds of usage, as `{"gatewayMessagesIn": 1000}`, or `{"counters":
 * …, "units": …}` with the emulator's counters and the read and write units of DynamoDB.
 *
 * @throws {UsageFormatError} for anything else
 */
export function meteredUsage(given: unknown): Usage {
  if (!isObject(given)) throw new UsageFormatError('A usage is an object, as {"gatewayMessagesIn": 1000}');
  if ('counters' in given) return usageOf(countersFrom(given.counters), unitsFrom(given.units));
  for (const [name, value] of Object.entries(given)) {
    if (!USAGE_NAMES.some((each) => each === name)) {
      throw new UsageFormatError(`"${name}" is no kind of usage. There are ${USAGE_NAMES.join(', ')}`);
    }
    quantityFrom(name, value);
  }
  return usage(given as Partial<Usage>);
}

function countersFrom(given: unknown): GatewayCounters {
  const counters = objectFrom('counters', given);
  const messages = objectFrom('counters.messages', counters.messages);
  for (const kind of ['in', 'replies', 'posts', 'errors']) {
    const tally = objectFrom(`counters.messages.${kind}`, messages[kind]);
    for (const name of ['billed', 'bytes']) quantityFrom(`counters.messages.${kind}.${name}`, tally[name]);
  }
  const connections = objectFrom('counters.connections', counters.connections);
  quantityFrom('counters.connections.milliseconds', connections.milliseconds);
  const lambda = objectFrom('counters.lambda', counters.lambda);
  for (const name of ['invocations', 'gigabyteSeconds'])
    quantityFrom(`counters.lambda.${name}`, lambda[name]);
  if (counters.sqs !== undefined) {
    const sqs = objectFrom('counters.sqs', counters.sqs);
    for (const part of ['billed', 'idlePolls']) {
      const byQueue = objectFrom(`counters.sqs.${part}`, sqs[part]);
      for (const kind of ['standard', 'fifo']) quantityFrom(`counters.sqs.${part}.${kind}`, byQueue[kind]);
    }
  }
  return counters as unknown as GatewayCounters;
}

function unitsFrom(given: unknown): RequestUnits | undefined {
  if (given === undefined) return undefined;
  const { reads, writes } = objectFrom('units', given);
  return { reads: quantityFrom('units.reads', reads), writes: quantityFrom('units.writes', writes) };
}

function objectFrom(name: string, value: unknown): Fields {
  if (isObject(value)) return value;
  throw new UsageFormatError(`"${name}" is an object, not ${JSON.stringify(value) ?? 'missing'}`);
}

function quantityFrom(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new UsageFormatError(`"${name}" is a number from 0 up, not ${JSON.stringify(value) ?? 'missing'}`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
