import type { CreateEnvironment, FunctionOptions, Handler } from '@apus/emulator/service';
import type { Queue } from '../sqs/queue.ts';
import type { SqsBatchResponse, SqsEvent } from './events.ts';

/** The Lambda function of the mapping; `createEnvironment` makes its handler. */
export interface EventSourceFunction extends FunctionOptions {
  readonly createEnvironment: CreateEnvironment<Handler<SqsEvent, SqsBatchResponse | undefined>>;
}

/** An SQS queue that invokes a function with batches of its messages, like Lambda's event source mapping. */
export interface EventSourceOptions {
  /** Name of a queue that exists when the emulator starts: one of the option `queues`. */
  readonly queue: string;
  readonly function: EventSourceFunction;
  /** At most 10 on a FIFO queue, 10,000 on a standard one, where more than 10 need a window. @default 10 */
  readonly batchSize?: number;
  /** Standard only: how long messages are gathered before a batch that is not full is handed over. @default 0 */
  readonly batchWindowSeconds?: number;
  /** Batches that run at the same time, 2 to 1,000. @default as many as Lambda allows */
  readonly maximumConcurrency?: number;
  /**
   * Whether the function names the messages that failed. If not, a batch succeeds or fails as a whole.
   * @default false
   */
  readonly reportBatchItemFailures?: boolean;
}

export interface EventSourceSettings extends Required<Omit<EventSourceOptions, 'maximumConcurrency'>> {
  readonly maximumConcurrency: number | undefined;
}

const FIFO_BATCH_MAX = 10;
const STANDARD_BATCH_MAX = 10_000;
const WINDOW_SECONDS_MAX = 300;
const CONCURRENCY = { min: 2, max: 1_000 };

/** Fills in the defaults. Throws where Lambda would refuse the mapping. */
export function eventSourceSettings(
  options: EventSourceOptions,
  queue: Queue,
  functionTimeoutMs: number,
): EventSourceSettings {
  const settings = {
    batchSize: 10,
    batchWindowSeconds: 0,
    reportBatchItemFailures: false,
    ...options,
    maximumConcurrency: options.maximumConcurrency,
  };
  const { batchSize, batchWindowSeconds, maximumConcurrency } = settings;
  const { fifo, name, visibilityTimeoutSeconds } = queue.parts.settings;
  const refuse = (problem: string): never => {
    throw new Error(`Event source ${name}: ${problem}`);
  };
  const batchMax = fifo ? FIFO_BATCH_MAX : STANDARD_BATCH_MAX;
  if (!isWithin(batchSize, 1, batchMax)) refuse(`batchSize should be 1 to ${batchMax}, not ${batchSize}`);
  if (fifo && batchWindowSeconds !== 0) refuse('a FIFO queue has no batch window');
  if (!isWithin(batchWindowSeconds, 0, WINDOW_SECONDS_MAX)) {
    refuse(`batchWindowSeconds should be 0 to ${WINDOW_SECONDS_MAX}, not ${batchWindowSeconds}`);
  }
  if (batchSize > FIFO_BATCH_MAX && batchWindowSeconds === 0) {
    refuse(`a batchSize over ${FIFO_BATCH_MAX} needs a batchWindowSeconds of at least 1`);
  }
  if (maximumConcurrency !== undefined && !isWithin(maximumConcurrency, CONCURRENCY.min, CONCURRENCY.max)) {
    refuse(
      `maximumConcurrency should be ${CONCURRENCY.min} to ${CONCURRENCY.max}, not ${maximumConcurrency}`,
    );
  }
  // A batch would come again while its function still runs.
  if (visibilityTimeoutSeconds * 1000 < functionTimeoutMs) {
    refuse(
      `the queue's visibility timeout of ${visibilityTimeoutSeconds} s is less than the function's timeout of ${functionTimeoutMs / 1000} s`,
    );
  }
  return settings;
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
