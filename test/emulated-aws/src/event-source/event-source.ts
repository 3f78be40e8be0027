import { type Gateway, type Handler, type LambdaFunction, schedule } from '@apus/emulator/service';
import { deleteByHandle } from '../sqs/actions/inflight.ts';
import { SqsError } from '../sqs/errors.ts';
import type { Queue } from '../sqs/queue.ts';
import type { ServiceParts } from '../sqs/service.ts';
import type { QueueKind } from '../sqs/tally.ts';
import { EventSourceConcurrency } from './concurrency.ts';
import type { SqsEvent, SqsRecord } from './events.ts';
import type { EventSourceSettings } from './options.ts';
import { recordOf } from './record.ts';
import { breaksOrder, judgeBatch } from './result.ts';

/** Messages of one receive, and of one batch of deletes. */
const REQUEST_MESSAGES_MAX = 10;

/**
 * A Lambda event source mapping from a queue to a function. It does not poll by the clock: it looks when the queue has
 * messages, and when a batch has ended.
 */
export class EventSource {
  readonly #gateway: Gateway;
  readonly #service: ServiceParts;
  readonly #queue: Queue;
  readonly #settings: EventSourceSettings;
  readonly #function: LambdaFunction<Handler<SqsEvent, unknown>>;
  readonly #concurrency: EventSourceConcurrency;
  #running = 0;
  #isAwake = false;
  #window: 'closed' | 'open' | 'over' = 'closed';
  #cancelWindow = (): void => {};
  #cancelRetry = (): void => {};

  constructor(
    gateway: Gateway,
    service: ServiceParts,
    queue: Queue,
    settings: EventSourceSettings,
    lambda: LambdaFunction<Handler<SqsEvent, unknown>>,
  ) {
    this.#gateway = gateway;
    this.#service = service;
    this.#queue = queue;
    this.#settings = settings;
    this.#function = lambda;
    const { clock, limits, settings: queueSettings } = queue.parts;
    const { maximumConcurrency } = settings;
    this.#concurrency = new EventSourceConcurrency(clock, limits, queueSettings.fifo, maximumConcurrency);
  }

  start(): void {
    const { clock, limits } = this.#queue.parts;
    const startedAtMs = clock.now();
    this.#service.tally.addIdlePoller(this.#kind, () => {
      const polls = Math.floor((clock.now() - startedAtMs) / (limits.eventSourcePollSeconds * 1000));
      return polls * limits.eventSourcePollers;
    });
    this.#queue.onAvailable(() => this.#wake());
    this.#wake();
  }

  get #kind(): QueueKind {
    return this.#queue.parts.settings.fifo ? 'fifo' : 'standard';
  }

  /** Messages that are sent at the same time come in one batch, as far as there is room. */
  #wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    schedule(this.#gateway, 0, () => {
      this.#isAwake = false;
      this.#poll();
    });
  }

  #poll(): void {
    if (this.#gathers()) return;
    while (this.#queue.hasAvailable) {
      if (this.#running >= this.#concurrency.limit) {
        this.#retryWhenMoreMayRun();
        return;
      }
      const records = this.#receive();
      if (records.length === 0) break;
      this.#dispatch(records);
    }
    if (this.#running === 0) this.#concurrency.idle();
  }

  /** Whether a batch that is not full waits for more messages: a while from the first one on. */
  #gathers(): boolean {
    const { batchSize, batchWindowSeconds } = this.#settings;
    const { available } = this.#queue.depth;
    if (batchWindowSeconds === 0 || available === 0) return false;
    if (available >= batchSize || this.#window === 'over') {
      this.#cancelWindow();
      this.#window = 'closed';
      return false;
    }
    if (this.#window === 'closed') {
      this.#window = 'open';
      const { clock } = this.#queue.parts;
      this.#cancelWindow = clock.setTimer(batchWindowSeconds * 1000, () => this.#endWindow());
    }
    return true;
  }

  #endWindow(): void {
    this.#window = 'over';
    this.#wake();
  }

  #retryWhenMoreMayRun(): void {
    const ms = this.#concurrency.full();
    if (ms === undefined) return;
    this.#cancelRetry();
    this.#cancelRetry = this.#queue.parts.clock.setTimer(ms, () => this.#wake());
  }

  #receive(): SqsRecord[] {
    const { limits, region, tally } = this.#service;
    const messages = this.#queue.receive({
      messagesMax: this.#settings.batchSize,
      bytesMax: limits.eventSourceBatchBytesMax,
    });
    for (let at = 0; at < messages.length; at += REQUEST_MESSAGES_MAX) {
      const part = messages.slice(at, at + REQUEST_MESSAGES_MAX);
      const bytes = part.reduce((sum, { draft }) => sum + draft.bytes, 0);
      tally.request(this.#kind, 'ReceiveMessage', bytes);
    }
    return messages.map((message) => recordOf(this.#queue, message, region));
  }

  #dispatch(records: readonly SqsRecord[]): void {
    const { activity, dice } = this.#gateway;
    const end = activity.begin();
    this.#running += 1;
    const subject = { queueName: this.#queue.name, messagesMax: records.length };
    const delayMs = dice.delayMs(this.#service.faults.eventSourceDelayMs, subject);
    schedule(this.#gateway, delayMs, async () => {
      await this.#invoke(records);
      this.#running -= 1;
      this.#wake();
      end();
    });
  }

  async #invoke(records: readonly SqsRecord[]): Promise<void> {
    const { counters, settings } = this.#gateway;
    const { functionName } = this.#function.settings;
    const event: SqsEvent = { Records: records };
    const outcome = await this.#function.invoke(functionName, (handler) => handler, event);
    const verdict = judgeBatch(outcome, records, this.#settings.reportBatchItemFailures);
    if (verdict instanceof Error) {
      settings.onInvocationError(verdict, undefined);
      return;
    }
    if (this.#kind === 'fifo' && breaksOrder(records, verdict)) counters.event('eventSourceOrderBroken');
    this.#delete(records.filter(({ messageId }) => !verdict.has(messageId)));
  }

  /** A message that is not deleted comes again when its visibility timeout is over. */
  #delete(records: readonly SqsRecord[]): void {
    const { counters } = this.#gateway;
    for (let at = 0; at < records.length; at += REQUEST_MESSAGES_MAX) {
      this.#service.tally.request(this.#kind, 'DeleteMessageBatch');
    }
    for (const { receiptHandle } of records) {
      try {
        deleteByHandle(this.#queue, receiptHandle);
      } catch (error) {
        // Its visibility timeout was over, or the fault `redeliver` struck.
        if (!(error instanceof SqsError)) throw error;
        counters.event('eventSourceDeleteFailed');
      }
    }
  }
}
