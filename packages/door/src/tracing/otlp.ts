/** The numbers of `opentelemetry.proto.trace.v1.Span.SpanKind`. */
export const SPAN_KINDS = { internal: 1, server: 2, producer: 4 } as const;
export type SpanKind = keyof typeof SPAN_KINDS;

const STATUS_ERROR = 2;
const NANOSECONDS = 1_000_000;

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly state?: string;
  readonly name: string;
  readonly kind: number;
  /** Milliseconds since 1970, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

export interface OtlpOptions {
  /** The collector, as `http://127.0.0.1:4318`: the path of the protocol is added where there is none. */
  readonly url: string;
  /** For the collector, as `authorization`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The name of the service and other attributes of the process. */
  readonly resource: Readonly<Record<string, string>>;
  /** A collector that is slower is given up. */
  readonly timeoutMs: number;
}

/** Sends spans by OTLP over HTTP, in JSON: all that a broker has to say fits into one request. */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #url: URL;

  /** @throws {Error} with a sentence where the URL is none */
  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#url = tracesUrl(options.url);
  }

  /** @throws {Error} where the collector does not take them */
  async export(spans: readonly FinishedSpan[]): Promise<void> {
    const { headers, resource, timeoutMs } = this.#options;
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(resource, spans)),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
  }
}

function tracesUrl(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`the address of a collector is a URL, as http://127.0.0.1:4318, not "${text}".`);
  const url = new URL(text);
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url;
}

/** An `ExportTraceServiceRequest` in the JSON of OTLP: ids in hexadecimal, numbers of 64 bits as text. */
function requestOf(resource: OtlpOptions['resource'], spans: readonly FinishedSpan[]): object {
  const scopeSpans = [{ scope: { name: 'apus' }, spans: spans.map(spanOf) }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

function spanOf({
  traceId,
  spanId,
  parentSpanId,
  state,
  name,
  kind,
  startMs,
  endMs,
  attributes,
}: FinishedSpan) {
  return {
    traceId,
    spanId,
    parentSpanId,
    ...(state !== undefined && { traceState: state }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: attributes['error.type'] === undefined ? {} : { code: STATUS_ERROR },
  };
}

function attributesOf(attributes: Readonly<Record<string, string | number>>): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }));
}

function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * BigInt(NANOSECONDS) + BigInt(Math.round((ms - whole) * NANOSECONDS)));
}
