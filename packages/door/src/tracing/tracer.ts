import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { type Log, reasonOf, sampledTraceOf, type TraceContext } from '@apus/broker';
import type { WithUserProperties } from '@apus/mqtt';
import { type FinishedSpan, type OtlpExporter, SPAN_KINDS, type SpanKind } from './otlp.ts';

/** Spans that wait for export. Further ones are dropped, and the log says how many. */
const SPANS_MAX = 2_048;

/** Traced messages in a second: clients ask for traces, and a flood of them would be a flood of spans. */
const TRACES_PER_SECOND_MAX = 100;

/** Smaller differences are drift, and the fractions of a millisecond that the wall clock does not tell. */
const STEP_MS_MIN = 1_000;

/** Characters of a topic in a span. */
const TOPIC_LENGTH_MAX = 256;

export type Attributes = Readonly<Record<string, string | number>>;

/** A span that has begun. */
export interface Span extends TraceContext {
  end(attributes?: Attributes): void;
}

export interface TracerOptions {
  readonly exporter: OtlpExporter;
  readonly log: Log;
}

/**
 * Records the way of messages whose publishers ask for it, as spans named `receive`, `route` and `deliver` below the
 * publisher's own (docs/observability.md).
 */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #current = new AsyncLocalStorage<Span>();
  #finished: FinishedSpan[] = [];
  #dropped = 0;
  #second = 0;
  #originMs = Number.NaN;
  #tracesInSecond = 0;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** The span within which the caller works. */
  get current(): Span | undefined {
    return this.#current.getStore();
  }

  /** Finished spans that wait for export. */
  get waiting(): number {
    return this.#finished.length;
  }

  /** Works on an incoming message, within a span if its publisher asks for one. */
  receive<T>(topic: string, properties: WithUserProperties, attributes: Attributes, does: () => T): T {
    const parent = sampledTraceOf(properties);
    if (parent === undefined || !this.#mayTrace()) return does();
    const names = { 'messaging.destination.name': topic.slice(0, TOPIC_LENGTH_MAX), ...attributes };
    const span = this.begin('receive', 'server', parent, names);
    return this.#current.run(span, () => ended(span, does));
  }

  /** Makes a span of a part of that work. */
  within<T>(name: string, does: () => T, attributesOf?: (result: Awaited<T>) => Attributes): T {
    const { current } = this;
    if (current === undefined) return does();
    return ended(this.begin(name, 'internal', current), does, attributesOf);
  }

  begin(name: string, kind: SpanKind, parent: TraceContext, attributes: Attributes = {}): Span {
    const originMs = this.#origin();
    const startMs = originMs + performance.now();
    const { traceId, state } = parent;
    const spanId = randomBytes(8).toString('hex');
    const end = (more: Attributes = {}): void => {
      const own = { traceId, spanId, parentSpanId: parent.spanId, ...(state !== undefined && { state }) };
      const all = { 'messaging.system': 'mqtt', ...attributes, ...more };
      const endMs = originMs + performance.now();
      this.#keep({ ...own, name, kind: SPAN_KINDS[kind], startMs, endMs, attributes: all });
    };
    return { traceId, spanId, ...(state !== undefined && { state }), end };
  }

  /** Exports the waiting spans. Never rejects: spans that the collector does not take are lost. */
  async flush(): Promise<void> {
    const spans = this.#finished;
    const dropped = this.#dropped;
    this.#finished = [];
    this.#dropped = 0;
    const { exporter, log } = this.#options;
    if (dropped > 0) log.warn('spans-dropped', { dropped });
    if (spans.length === 0) return;
    try {
      await exporter.export(spans);
    } catch (error) {
      log.warn('spans-not-exported', { spans: spans.length, error: reasonOf(error) });
    }
  }

  /** The time of the wall clock at which `performance.now` was 0. It moves only where the wall clock has stepped. */
  #origin(): number {
    const originMs = Date.now() - performance.now();
    if (!(Math.abs(originMs - this.#originMs) < STEP_MS_MIN)) this.#originMs = originMs;
    return this.#originMs;
  }

  #keep(span: FinishedSpan): void {
    if (this.#finished.length < SPANS_MAX) this.#finished.push(span);
    else this.#dropped += 1;
  }

  #mayTrace(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#tracesInSecond = 0;
    }
    this.#tracesInSecond += 1;
    return this.#tracesInSecond <= TRACES_PER_SECOND_MAX;
  }
}

/** Ends the span when the work is done, now or later. */
function ended<T>(span: Span, does: () => T, attributesOf?: (result: Awaited<T>) => Attributes): T {
  const failed = (error: unknown): never => {
    span.end({ 'error.type': error instanceof Error ? error.name : 'error' });
    throw error;
  };
  let result: T;
  try {
    result = does();
  } catch (error) {
    return failed(error);
  }
  if (result instanceof Promise)
    return result.then((value) => {
      span.end(attributesOf?.(value));
      return value;
    }, failed) as T;
  span.end(attributesOf?.(result as Awaited<T>));
  return result;
}
