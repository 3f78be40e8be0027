import { type Gateway, schedule } from '../gateway/gateway.ts';
import { uuid } from '../ids.ts';
import type { FunctionOptions } from '../options.ts';
import type { LambdaFunction } from './function.ts';
import type { CreateEnvironment, Handler } from './types.ts';

/** The event that a rule of EventBridge passes to its target. */
export interface ScheduledEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': 'Scheduled Event';
  readonly source: 'aws.events';
  readonly account: string;
  /** In whole seconds: `2026-01-01T00:10:00Z`. */
  readonly time: string;
  readonly region: string;
  /** The rule's ARN. */
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, never>>;
}

/** A Lambda function of its own; `createEnvironment` makes its handler. */
export interface ScheduleFunction extends FunctionOptions {
  readonly createEnvironment: CreateEnvironment<Handler<ScheduledEvent, unknown>>;
}

export interface ScheduleOptions {
  /** Whole minutes, as in `rate(1 minute)`. The first event comes this long after the start. */
  readonly rateSeconds: number;
  readonly function: ScheduleFunction;
  /** The rule's. @default the function's name */
  readonly name?: string;
}

const MINUTE_SECONDS = 60;

/** An asynchronous invocation that failed is tried again after one minute, and after two more. */
const RETRY_AFTER_MS = [60_000, 120_000];

/** A rule of EventBridge that invokes a function at a fixed rate: at least once for each time, and perhaps late. */
export class Schedule {
  readonly #gateway: Gateway;
  readonly #options: ScheduleOptions;
  readonly #function: LambdaFunction<Handler<ScheduledEvent, unknown>>;

  constructor(
    gateway: Gateway,
    options: ScheduleOptions,
    lambda: LambdaFunction<Handler<ScheduledEvent, unknown>>,
  ) {
    const { rateSeconds } = options;
    if (!Number.isInteger(rateSeconds / MINUTE_SECONDS) || rateSeconds <= 0) {
      throw new Error(`rateSeconds should be whole minutes, not ${rateSeconds} s`);
    }
    this.#gateway = gateway;
    this.#options = options;
    this.#function = lambda;
  }

  start(): void {
    this.#arm(this.#gateway.settings.clock.now() + this.#options.rateSeconds * 1000);
  }

  #arm(dueAtMs: number): void {
    const { clock } = this.#gateway.settings;
    clock.setTimer(dueAtMs - clock.now(), () => {
      if (this.#gateway.stopped) return;
      this.#arm(dueAtMs + this.#options.rateSeconds * 1000);
      this.#fire(dueAtMs);
    });
  }

  #fire(dueAtMs: number): void {
    const { dice, settings } = this.#gateway;
    const { faults } = settings;
    const event = this.#event(dueAtMs);
    const times = dice.strikes('scheduleTwice', faults.scheduleTwice, event) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      this.#invokeAfter(dice.delayMs(faults.scheduleDelayMs, event), event, 0);
    }
  }

  #invokeAfter(delayMs: number, event: ScheduledEvent, attempt: number): void {
    const { activity, settings } = this.#gateway;
    schedule(this.#gateway, delayMs, async () => {
      const end = activity.begin();
      const { functionName } = this.#function.settings;
      const outcome = await this.#function.invoke(functionName, (handler) => handler, event);
      end();
      if (outcome.kind !== 'failed') return;
      settings.onInvocationError(outcome.error, undefined);
      const retryMs = RETRY_AFTER_MS[attempt];
      if (retryMs !== undefined) this.#retryAfter(retryMs, event, attempt + 1);
    });
  }

  /** Not `schedule`: a test that waits until all activity has ended need not wait for another minute. */
  #retryAfter(ms: number, event: ScheduledEvent, attempt: number): void {
    this.#gateway.settings.clock.setTimer(ms, () => {
      if (!this.#gateway.stopped) this.#invokeAfter(0, event, attempt);
    });
  }

  #event(dueAtMs: number): ScheduledEvent {
    const { random, settings } = this.#gateway;
    const { accountId, region } = settings;
    const name = this.#options.name ?? this.#function.settings.functionName;
    return {
      version: '0',
      id: uuid(random),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: accountId,
      time: new Date(dueAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
      region,
      resources: [`arn:aws:events:${region}:${accountId}:rule/${name}`],
      detail: {},
    };
  }
}
