import type { Log } from '@apus/broker';
import { OtlpExporter, Tracer } from '@apus/door';

/** Spans wait this long for others, or until so many are there. */
const EXPORT_EVERY_MS = 1_000;

/** A collector that takes longer is given up, and the spans with it. */
const TIMEOUT_MS = 10_000;

/** Where a node sends its traces. */
export interface TracesOptions {
  /** A collector that takes OTLP over HTTP, as `http://127.0.0.1:4318`. */
  readonly url: string;
  /** For the collector. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Traces of a node, which leave in the background: one request at a time. */
export class NodeTraces {
  readonly tracer: Tracer;
  #flushing: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  /** @throws {Error} with a sentence where the URL is none */
  constructor({ url, headers }: TracesOptions, log: Log) {
    const resource = { 'service.name': 'apus', 'service.instance.id': String(process.pid) };
    const exporter = new OtlpExporter({ url, headers, resource, timeoutMs: TIMEOUT_MS });
    this.tracer = new Tracer({ exporter, log });
    this.#timer = setInterval(() => void this.#flush(), EXPORT_EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.tracer.flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }
}
