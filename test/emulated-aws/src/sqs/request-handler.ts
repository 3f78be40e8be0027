import { uuid } from '@apus/emulator/service';
import type {
  SdkHandlerOptions,
  SdkRequest,
  SdkRequestHandler,
  SdkResponse,
} from '../dynamodb/request-handler.ts';
import { answer, type SqsAnswer } from './protocol.ts';
import type { SqsService } from './service.ts';

/** The caller: an execution environment, which may be frozen or killed on the way. */
export interface SqsCaller {
  readonly id: string;
  /** False while it is frozen. @default true */
  readonly running?: boolean;
  readonly signal: AbortSignal;
  checkpoint(name: string): Promise<void>;
}

const TARGET = 'AmazonSQS.';

/** Takes the place of the HTTP client in AWS's SDK: requests end here, in the same process. */
export class SqsRequestHandler implements SdkRequestHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #service: SqsService;
  readonly #caller: SqsCaller | undefined;

  constructor(service: SqsService, caller: SqsCaller | undefined) {
    this.#service = service;
    this.#caller = caller;
  }

  async handle(request: SdkRequest, options: SdkHandlerOptions = {}): Promise<{ response: SdkResponse }> {
    const abortSignal = options.abortSignal instanceof AbortSignal ? options.abortSignal : undefined;
    if (abortSignal?.aborted) throw abortError();
    const call = this.#call(request, abortSignal);
    return abortSignal === undefined ? await call : await orAborted(call, abortSignal);
  }

  /** The SDK offers its HTTP settings; this handler has none. */
  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  destroy(): void {}

  async #call(request: SdkRequest, abortSignal: AbortSignal | undefined): Promise<{ response: SdkResponse }> {
    const target = headerOf(request, 'x-amz-target');
    const action = target.startsWith(TARGET) ? target.slice(TARGET.length) : target;
    const caller = this.#caller;
    await this.#pass(`sqs:${action}:before`);
    const { activity } = this.#service.parts;
    let end = activity.begin();
    // Concurrent calls have no order; a call that was answered before another was made precedes it.
    await new Promise<void>((resolve) => this.#service.soon(resolve));
    const answered = await answer(this.#service, {
      action,
      body: textOf(request.body),
      environmentId: caller?.id,
      pause: () => {
        end();
        return () => {
          end = activity.begin();
        };
      },
      signals: [caller?.signal, abortSignal].filter((signal) => signal !== undefined),
    }).finally(() => end()); // Whichever is the latest.
    await this.#pass(`sqs:${action}:after`);
    return this.#respond(answered);
  }

  /** Waits while the caller is frozen; for ever once it is dead. */
  async #pass(checkpoint: string): Promise<void> {
    const caller = this.#caller;
    if (caller === undefined) return;
    if (caller.signal.aborted) this.#service.parts.onEvent('requestsOfDeadEnvironments');
    else if (caller.running === false) this.#service.parts.onEvent('requestsWhileFrozen');
    await caller.checkpoint(checkpoint);
  }

  #respond({ status, headers, body }: SqsAnswer): { response: SdkResponse } {
    return {
      response: {
        statusCode: status,
        headers: {
          ...headers,
          'content-type': 'application/x-amz-json-1.0',
          'x-amzn-requestid': uuid(this.#service.parts.random),
        },
        body: Buffer.from(JSON.stringify(body)),
      },
    };
  }
}

function headerOf({ headers }: SdkRequest, lowerCaseName: string): string {
  const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === lowerCaseName);
  return entry?.[1] ?? '';
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  throw new Error('Expected the body of a request to be text or bytes');
}

async function orAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(abortError());
    signal.addEventListener('abort', abort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function abortError(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError' });
}
