import { type Clock, steadyNow } from '@apus/broker';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Meter } from '../metrics/meter.ts';
import {
  METRICS_SERVICE,
  type MetricName,
  TENANT_DIMENSION,
  TENANT_METRICS,
} from '../metrics/metric-names.ts';
import type { TenantMeter } from '../metrics/tenant-meter.ts';

/** A line of metrics for each frame would cost as much as the frame: each environment gathers them this long. */
const FLUSH_EVERY_MS = 60_000;

/** Counts of one execution environment, written to the log in CloudWatch's embedded metric format. */
export class FunctionMetrics implements Meter {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #sums = new Map<MetricName, number>();
  readonly #tenants: TenantMeter | undefined;
  /** Apart from the others: a dimension is of a whole line. */
  readonly #tenantMetrics: Metrics;
  #flushedAtMs: number;

  constructor(namespace: string, clock: Clock, tenants?: TenantMeter) {
    this.#clock = clock;
    this.#tenants = tenants;
    this.#tenantMetrics = new Metrics({ namespace, serviceName: METRICS_SERVICE });
    this.#metrics = new Metrics({ namespace, serviceName: METRICS_SERVICE });
    this.#flushedAtMs = steadyNow(clock);
  }

  add(name: MetricName, count = 1): void {
    if (count !== 0) this.#sums.set(name, (this.#sums.get(name) ?? 0) + count);
  }

  /** A value of its own, and not one that is added up: milliseconds, or how many there are now. */
  observe(name: MetricName, value: number, unit: 'Milliseconds' | 'Count'): void {
    this.#metrics.addMetric(name, MetricUnit[unit], value);
  }

  /**
   * To be called after each event. An environment that serves no further event loses its gathered counts, at most those
   * of a minute.
   */
  flushWhenDue(): void {
    const nowMs = steadyNow(this.#clock);
    if (nowMs - this.#flushedAtMs < FLUSH_EVERY_MS) return;
    this.flush();
  }

  flush(): void {
    this.#flushedAtMs = steadyNow(this.#clock);
    for (const [name, sum] of this.#sums) this.#metrics.addMetric(name, MetricUnit.Count, sum);
    this.#sums.clear();
    // Without metrics it would warn.
    if (this.#metrics.hasStoredMetrics()) this.#metrics.publishStoredMetrics();
    for (const { tenant, messagesIn, messagesOut } of this.#tenants?.take() ?? []) {
      this.#tenantMetrics.addDimension(TENANT_DIMENSION, tenant);
      this.#tenantMetrics.addMetric(TENANT_METRICS.messagesIn, MetricUnit.Count, messagesIn);
      this.#tenantMetrics.addMetric(TENANT_METRICS.messagesOut, MetricUnit.Count, messagesOut);
      this.#tenantMetrics.publishStoredMetrics();
    }
  }
}
