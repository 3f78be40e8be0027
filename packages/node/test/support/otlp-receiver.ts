import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
  readonly status: { readonly code?: number };
}

const SPAN_FIELDS = [
  ...['traceId', 'spanId', 'parentSpanId', 'traceState', 'name', 'kind', 'startTimeUnixNano'],
  ...['endTimeUnixNano', 'attributes', 'status'],
];

/** A collector that takes nothing but what OTLP's JSON allows: fields by their names, ids in hexadecimal, 64 bits as text. */
export async function otlpReceiver(): Promise<{
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly path: string | undefined; readonly authorization: string | undefined }[];
}> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string | undefined; authorization: string | undefined }[] = [];
  const failures: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url, authorization: request.headers.authorization });
    try {
      spans.push(...spansOf((await json(request)) as Record<string, unknown>));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } catch (error) {
      failures.push(String(error));
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    if (failures.length > 0) throw new Error(failures.join('\n'));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, requests };
}

function spansOf(request: Record<string, unknown>): readonly ReceivedSpan[] {
  const [resource = {}] = only(request, ['resourceSpans']) as [Record<string, unknown>];
  const { scopeSpans, resource: described } = resource as { scopeSpans: unknown[]; resource: object };
  requireFields(described, ['attributes']);
  const [scope] = scopeSpans as [{ scope: object; spans: ReceivedSpan[] }];
  requireFields(scope, ['scope', 'spans']);
  for (const span of scope.spans) requireSpan(span);
  return scope.spans;
}

function requireSpan(span: ReceivedSpan): void {
  requireFields(span, SPAN_FIELDS);
  require(/^[0-9a-f]{32}$/.test(span.traceId), `trace id ${span.traceId}`);
  for (const id of [span.spanId, span.parentSpanId]) require(/^[0-9a-f]{16}$/.test(id), `span id ${id}`);
  for (const time of [span.startTimeUnixNano, span.endTimeUnixNano])
    require(typeof time === 'string' && /^\d{19}$/.test(time), `time ${time}`);
  require(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), 'it ends before it begins');
  for (const { value } of span.attributes) {
    const [[type = '', inner] = []] = Object.entries(value);
    require(Object.keys(value).length === 1 && typeof inner === 'string', `value ${JSON.stringify(value)}`);
    require(type === 'stringValue' || (type === 'intValue' && /^-?\d+$/.test(inner ?? '')), `type ${type}`);
  }
}

function only(object: Record<string, unknown>, fields: readonly string[]): unknown[] {
  requireFields(object, fields);
  return object[fields[0] ?? ''] as unknown[];
}

function requireFields(object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  require(unknown === undefined, `field ${unknown}`);
}

function require(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`OTLP has no such ${what}`);
}
