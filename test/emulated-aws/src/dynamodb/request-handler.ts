import type { Environment } from '@apus/emulator/service';
import type { Answer } from './service.ts';
import type { Transport } from './transport.ts';

/** A request that the SDK passes to its transport. */
export interface SdkRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SdkResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface SdkHandlerOptions {
  readonly abortSignal?: unknown;
}

/** The `requestHandler` of `DynamoDBClient`. */
export interface SdkRequestHandler {
  handle(request: SdkRequest, options?: SdkHandlerOptions): Promise<{ response: SdkResponse }>;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): Record<string, never>;
  destroy(): void;
}

/** The part of the calling execution environment that is used. */
export type CallingEnvironment = Pick<Environment, 'id' | 'checkpoint'>;

const TARGET_PREFIX = 'DynamoDB_20120810.';

/** The SDK's transport without a socket: AWS JSON 1.0 in and out. */
export function createRequestHandler(
  transport: Transport,
  environment: CallingEnvironment | undefined,
): SdkRequestHandler {
  const handle = async ({ headers, body }: SdkRequest): Promise<{ response: SdkResponse }> => {
    const operation = operationOf(headers);
    await environment?.checkpoint(`dynamodb:${operation}:before`);
    // The after checkpoint always runs: an environment that died meanwhile gets no answer.
    try {
      return { response: responseOf(await transport.carry(operation, textOf(body), environment?.id)) };
    } finally {
      await environment?.checkpoint(`dynamodb:${operation}:after`);
    }
  };
  return {
    handle: async (request, { abortSignal } = {}) =>
      abortSignal instanceof AbortSignal
        ? await unlessAborted(abortSignal, handle(request))
        : await handle(request),
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  };
}

function operationOf(headers: Readonly<Record<string, string>>): string {
  const target = headers['x-amz-target'] ?? '';
  return target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : target;
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (!(body instanceof Uint8Array)) return '';
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

function responseOf({ status, body, requestId }: Answer): SdkResponse {
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-requestid': requestId,
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** A caller that gives up does not get the answer, but the call takes effect. */
async function unlessAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
