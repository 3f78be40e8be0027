import { API_PATH, HANDLERS, type OperationId, routeOf } from '@apus/api';
import {
  type Authorizer,
  type Bans,
  banOnCaller,
  type Identity,
  type Log,
  rulesAuthorizer,
  sentenceOf,
} from '@apus/broker';
import {
  type ApiAnswer,
  answerHere,
  BULK_PATH,
  createPublishEndpoint,
  createReadingEndpoint,
  type HttpAnswer,
  type HttpRequest,
  isReading,
  PUBLISH_PATH,
  problem,
  publishHere,
  READING_ENVIRONMENT_RATE,
  READING_RATE,
  REQUEST_BYTES_MAX,
  RequestLimiter,
  refusal,
  refusalFor,
} from '@apus/door';
import { everythingAllowed } from '../access.ts';
import type { ApiNote } from '../front-note.ts';
import { type HubSources, hubFacts } from './facts.ts';

/** The HTTP API of a hub: the operations of `/api/v5` for operators; publishing and reading for keys of backends. */
export class HubApi {
  readonly #sources: HubSources;
  readonly #bans: Bans;
  readonly #log: Log;
  readonly #facts: ReturnType<typeof hubFacts>;
  readonly #readings: RequestLimiter;

  constructor(sources: HubSources, bans: Bans, log: Log) {
    this.#sources = sources;
    this.#bans = bans;
    this.#log = log;
    this.#facts = hubFacts(sources);
    const rates = { caller: READING_RATE, environment: READING_ENVIRONMENT_RATE };
    this.#readings = new RequestLimiter(sources.clock, rates);
  }

  /** @param note by the Worker in front, which has checked the caller */
  async answer(request: Request, note: ApiNote): Promise<Response> {
    const { pathname: path, search } = new URL(request.url);
    try {
      if ('caller' in note)
        return ofEndpoint(await this.#answerCaller(request, path, note.caller, note.host));
      return ofOperation(await this.#answerOperator(request, path, search.slice(1), note.tenant));
    } catch (error) {
      this.#log.error('api-failed', { path, error: String((error as Error)?.stack ?? error) });
      return ofOperation(refusal('INTERNAL_ERROR', 'This should not have happened: see the log.'));
    }
  }

  async #answerOperator(request: Request, path: string, text: string, tenant: string): Promise<ApiAnswer> {
    const routed = routeOf(request.method, path.slice(API_PATH.length), text);
    if ('status' in routed) {
      const { code, message, allow } = routed;
      return { ...refusal(code, message), ...(allow !== undefined && { headers: { Allow: allow } }) };
    }
    const { id, parameters, query } = routed;
    if (isPublishing(id))
      return await this.#publish(request, path, { tenant, name: 'api' }, everythingAllowed);
    const body = (bytesMax: number) => bodyOf(request, bytesMax);
    try {
      return await answerHere(this.#facts, HANDLERS[id], { tenant, parameters, query, body });
    } catch (error) {
      return refusalFor(error);
    }
  }

  async #publish(
    request: Request,
    path: string,
    caller: Identity,
    authorizer: Authorizer,
  ): Promise<ApiAnswer> {
    const { status, headers, body } = await this.#endpoint(caller, authorizer)(await httpOf(request, path));
    return { status, headers, text: body };
  }

  /** The key of a backend, within its rules. */
  async #answerCaller(
    request: Request,
    path: string,
    caller: Identity,
    host: string | undefined,
  ): Promise<HttpAnswer> {
    // [SEC-BAN-3]
    const ban = banOnCaller(this.#bans, caller, host);
    if (ban !== undefined) return problem('FORBIDDEN', `Refused: ${sentenceOf(ban)}.`);
    const http = await httpOf(request, path);
    if (!isReading(path)) return await this.#endpoint(caller, rulesAuthorizer)(http);
    const reading = { authenticate: () => caller, authorizer: rulesAuthorizer, limiter: this.#readings };
    return await createReadingEndpoint({ ...reading, facts: this.#facts })(http);
  }

  #endpoint(caller: Identity, authorizer: Authorizer): ReturnType<typeof createPublishEndpoint> {
    const { broker, limits, published } = this.#sources;
    return createPublishEndpoint({
      authenticate: () => caller,
      authorizer,
      limits: { topicLevelsMax: limits.topicLevelsMax, publishBytesMax: limits.maximumPacketSize },
      publish: publishHere(broker, ({ tenant, payload }) => published(tenant, payload)),
    });
  }
}

/** Whether the key of a backend opens this path. */
export function isForBackends(path: string): boolean {
  return path === PUBLISH_PATH || path === BULK_PATH || isReading(path);
}

function isPublishing(id: OperationId): id is 'publish' | 'publishBulk' {
  return id === 'publish' || id === 'publishBulk';
}

async function httpOf(request: Request, path: string): Promise<HttpRequest> {
  return {
    method: request.method,
    path,
    query: new URL(request.url).search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: await bodyOf(request, REQUEST_BYTES_MAX),
  };
}

/** The body of a request. Bytes beyond the limit are not read: the length alone is refused. */
async function bodyOf({ body }: Request, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the rest.
    if (length > bytesMax) break;
  }
  return Buffer.concat(chunks);
}

const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** As a node writes it. */
export function ofOperation({ status, headers = {}, body, text }: ApiAnswer): Response {
  const challenge = status === 401 && { 'WWW-Authenticate': 'Bearer' };
  const type = body !== undefined && { 'Content-Type': 'application/json' };
  const written = body === undefined ? text : `${JSON.stringify(body)}\n`;
  const all = { ...headers, ...COMMON_HEADERS, ...challenge, ...type };
  return new Response(written ?? null, { status, headers: all });
}

export function ofEndpoint({ status, headers, body }: HttpAnswer): Response {
  return new Response(body, { status, headers: { ...headers, ...COMMON_HEADERS } });
}
