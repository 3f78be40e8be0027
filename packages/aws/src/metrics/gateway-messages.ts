import { type Clock, type Log, reasonOf } from '@apus/broker';
import {
  type CloudWatchMetrics,
  GATEWAY_MESSAGES,
  type MetricPoint,
  type MetricQuery,
} from './cloud-watch.ts';

const MINUTE_MS = 60_000;

/** A minute that has just ended may be counted in part. */
const COMPLETE_AFTER_MS = MINUTE_MS;

/** CloudWatch has a minute of API Gateway within some minutes, and none of a minute without messages. */
const LOOK_BACK_MS = 5 * MINUTE_MS;

const QUERY: MetricQuery = { name: GATEWAY_MESSAGES, statistic: 'Sum', periodSeconds: 60 };

/** The messages of a stage by the minute: the metric whose alarm trips the breaker. */
export class GatewayMessages {
  readonly #metrics: CloudWatchMetrics;
  readonly #clock: Clock;
  readonly #log: Log;
  #asked: { readonly toMs: number; readonly minute: Promise<MetricPoint | undefined> } | undefined;

  constructor(metrics: CloudWatchMetrics, clock: Clock, log: Log) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#log = log;
  }

  /** The newest minute that CloudWatch has; undefined where there is none. It is asked once a minute, also where it fails. */
  async lastMinute(): Promise<MetricPoint | undefined> {
    const completeMs = this.#clock.now() - COMPLETE_AFTER_MS;
    const toMs = completeMs - (completeMs % MINUTE_MS);
    if (this.#asked?.toMs !== toMs) this.#asked = { toMs, minute: this.#ask(toMs) };
    return await this.#asked.minute;
  }

  async #ask(toMs: number): Promise<MetricPoint | undefined> {
    try {
      const [points] = await this.#metrics.points([QUERY], { fromMs: toMs - LOOK_BACK_MS, toMs });
      return points?.at(-1);
    } catch (error) {
      this.#log.warn('gateway-messages-unknown', { error: reasonOf(error) });
      return undefined;
    }
  }
}
