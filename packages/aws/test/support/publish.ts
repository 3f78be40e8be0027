import type { InvocationContext } from '../../src/events/gateway.ts';
import {
  createPublishFunction,
  type PublishFunction,
  type PublishFunctionOptions,
} from '../../src/publish/create-publish-function.ts';
import type { FunctionUrlEvent } from '../../src/publish/function-url.ts';
import type { Process, World } from './fan-out.ts';

export const KEY = 'k'.repeat(40);

/** An answer of the endpoint, its JSON read. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any field of the JSON.
  readonly body: any;
}

export interface Call {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it is: text, or what its JSON is made of. */
  readonly body?: unknown;
  /** The body as Lambda hands it over, in the place of `body`. */
  readonly rawBody?: string;
  /** Address of the caller. */
  readonly sourceIp?: string;
  /** ARN of the signer. */
  readonly signedBy?: string;
  readonly remainingMs?: () => number;
}

/** The function of the endpoint over a process of the world, and requests to it as Lambda would hand them over. */
export class PublishEndpoint {
  readonly #handler: PublishFunction;

  constructor(world: World, process: Process, options: Partial<PublishFunctionOptions> = {}) {
    const { environment } = process.cloud;
    this.#handler = createPublishFunction({
      environment,
      clock: world.time,
      readKeys: async () => KEY,
      ...options,
    });
  }

  async call(call: Call): Promise<Answer> {
    const { statusCode, headers, body } = await this.#handler(eventOf(call), contextOf(call));
    return { status: statusCode, headers, body: JSON.parse(body) };
  }

  publish(body: unknown, more: Call = {}): Promise<Answer> {
    return this.call({ body, ...more });
  }

  bulk(body: unknown, more: Call = {}): Promise<Answer> {
    return this.call({ path: '/api/v5/publish/bulk', body, ...more });
  }
}

function eventOf({
  path = '/api/v5/publish',
  method = 'POST',
  headers,
  body,
  rawBody,
  sourceIp,
  signedBy,
}: Call): FunctionUrlEvent {
  return {
    rawPath: path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, ...headers },
    body: rawBody ?? (typeof body === 'string' ? body : JSON.stringify(body)),
    requestContext: {
      http: { method, ...(sourceIp !== undefined && { sourceIp }) },
      ...(signedBy !== undefined && { authorizer: { iam: { userArn: signedBy } } }),
    },
  };
}

function contextOf({ remainingMs = () => 29_000 }: Call): InvocationContext {
  return { getRemainingTimeInMillis: remainingMs };
}
