import { createHash, timingSafeEqual } from 'node:crypto';
import { API_PATH, OPERATIONS, routeOf } from '@apus/api';
import type { Log } from '@apus/broker';
import {
  type Authenticate,
  byKeys,
  type HttpRequest,
  RequestLimiter,
  type RequestRates,
  refusal,
  TENANT_HEADER,
  tooManyRequests,
} from '@apus/door';
import { type ApiKeySource, DEFAULT_TENANT, type Handshakes, isTenant, peerHostOf } from '@apus/identity';
import { isForBackends, ofEndpoint, ofOperation } from '../api/hub-api.ts';
import { type ApiNote, noteHeaders } from '../front-note.ts';
import { admit, MQTT_PATH } from '../handshake.ts';
import type { HubPeer } from '../own-tenant.ts';
import type { WorkerConfiguration } from './configuration.ts';

/** The hub of a tenant. */
export interface HubStub {
  fetch(request: Request): Promise<Response>;
}

export interface FrontOptions {
  readonly configuration: WorkerConfiguration;
  /** Checks tokens of handshakes. Undefined: there is no configuration of identities. */
  readonly handshakes: Handshakes | undefined;
  /** Keys of backends, each list in the order of the configuration. */
  readonly keys: readonly ApiKeySource[];
  readonly log: Log;
  readonly clock: { now(): number };
}

/** What a request comes with. */
export interface RequestContext {
  /** The one hub of a tenant. Nothing is sent to it by this call. */
  readonly hubOf: (tenant: string) => HubStub;
  /** Keeps the work going when the client has gone: others may wait for it. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** `/mqtt`, or `/TENANT/mqtt`. A name that would have to be percent-encoded is no tenant's. */
const TENANT_PATH = /^(?:\/([\w.-]{1,64}))?\/mqtt$/;

/** Its callers show the tokens of clients, and no key of the API. */
const EVENTS_PATH = `${API_PATH}${OPERATIONS.streamEvents.path}`;
const NO_EVENTS =
  'A hub holds no HTTP answer open: it would be billed for the whole time of each stream. Subscribe over MQTT.';

/** What one isolate takes of operators, beside `UNAUTHORIZED_RATE` for each address. */
const OPERATOR_RATES: RequestRates = {
  caller: { perSecond: 50, burst: 200 },
  environment: { perSecond: 100, burst: 400 },
};

/**
 * The Worker in front of all hubs, which keeps nothing. A token or a key is checked here, and opens the hub of its own tenant
 * alone; a wrong one wakes no hub [SEC-TENANT-10].
 */
export class Front {
  readonly #options: FrontOptions;
  readonly #backends: Authenticate;
  readonly #backendLimiter: RequestLimiter;
  readonly #operatorLimiter: RequestLimiter;
  readonly #apiKeyHash: Buffer | undefined;

  constructor(options: FrontOptions) {
    this.#options = options;
    const { keys, clock, log } = options;
    const { apiKey } = options.configuration;
    this.#backendLimiter = new RequestLimiter(clock);
    this.#operatorLimiter = new RequestLimiter(clock, OPERATOR_RATES);
    this.#backends = byKeys(inOneList(keys), log, this.#backendLimiter);
    this.#apiKeyHash = apiKey === undefined ? undefined : sha256(apiKey);
  }

  /** Undefined: the path is neither that of MQTT nor of the API. */
  async answer(request: Request, context: RequestContext): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const isApi = pathname === API_PATH || pathname.startsWith(`${API_PATH}/`);
    if (isApi) return await this.#answerApi(request, pathname, context);
    const path = TENANT_PATH.exec(pathname);
    return path === null ? undefined : await this.#connect(request, path[1], context);
  }

  async #connect(request: Request, named: string | undefined, context: RequestContext): Promise<Response> {
    const { configuration, handshakes } = this.#options;
    const { allowedOrigins, openTenants } = configuration;
    const admitting = admit(request, { allowedOrigins, handshakes });
    // A key set that it reads is for other clients as well.
    context.waitUntil(admitting.catch(() => {}));
    const peer = await admitting;
    if (peer instanceof Response) return peer;
    const tenant = peer.identity?.tenant ?? named ?? DEFAULT_TENANT;
    if (named !== undefined && named !== tenant)
      return refused(403, 'This token is not of the tenant that the path names.');
    if (peer.identity === undefined && !openTenants.has(tenant))
      return refused(401, 'Clients of this tenant show a token with the handshake: ?token=TOKEN');
    return await context.hubOf(tenant).fetch(connectRequest(request, { ...peer, tenant }));
  }

  async #answerApi(request: Request, path: string, context: RequestContext): Promise<Response> {
    if (path === EVENTS_PATH) return ofOperation(refusal('NOT_SUPPORTED', NO_EVENTS));
    const note = await this.#admitCaller(request, path);
    if (note instanceof Response) return note;
    const routed = routeOf(request.method, path.slice(API_PATH.length), new URL(request.url).search.slice(1));
    if ('status' in routed) {
      const { code, message, allow } = routed;
      return ofOperation({
        ...refusal(code, message),
        ...(allow !== undefined && { headers: { Allow: allow } }),
      });
    }
    return await context.hubOf(note.tenant).fetch(apiRequest(request, note));
  }

  /** The caller whose key the request has shown, or the answer that refuses it. No hub is asked. */
  async #admitCaller(request: Request, path: string): Promise<ApiNote | Response> {
    const http = headOf(request, path);
    const { authorization = '' } = http.headers;
    if (this.#apiKeyHash !== undefined && isKey(authorization, this.#apiKeyHash)) {
      const waitSeconds = this.#operatorLimiter.take('operator');
      if (waitSeconds > 0) return ofEndpoint(tooManyRequests(waitSeconds));
      const tenant = http.headers[TENANT_HEADER] ?? DEFAULT_TENANT;
      if (isTenant(tenant)) return { tenant };
      const message = `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`;
      return ofOperation(refusal('BAD_REQUEST', message));
    }
    if (this.#options.keys.length > 0 && isForBackends(path)) return await this.#admitBackend(http);
    const waitSeconds = this.#operatorLimiter.floodSeconds(http.address ?? '');
    if (waitSeconds > 0) return ofEndpoint(tooManyRequests(waitSeconds));
    this.#operatorLimiter.unauthorized(http.address ?? '');
    return this.#apiKeyHash === undefined
      ? ofOperation(refusal('API_CLOSED', 'The API wants a key: set the secret API_KEY.'))
      : ofOperation(refusal('BAD_API_KEY_OR_SECRET', 'Send the key: Authorization: Bearer KEY'));
  }

  async #admitBackend(http: HttpRequest): Promise<ApiNote | Response> {
    const caller = await this.#backends(http);
    if ('status' in caller) {
      if (caller.status === 401) this.#backendLimiter.unauthorized(http.address ?? '');
      return ofEndpoint(caller);
    }
    const waitSeconds = this.#backendLimiter.take(`${caller.tenant}\0${caller.name}`);
    if (waitSeconds > 0) return ofEndpoint(tooManyRequests(waitSeconds));
    return { tenant: caller.tenant, caller, host: peerHostOf(http.address) };
  }
}

function inOneList(keys: readonly ApiKeySource[]): ApiKeySource {
  const first = async <T>(look: (source: ApiKeySource) => T | undefined | Promise<T | undefined>) => {
    for (const source of keys) {
      const found = await look(source);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    find: (look) => first(async (source) => await source.find(look)),
    findKnown: (look) => first(async (source) => await source.findKnown(look)),
  };
}

/** A request of a hub is made anew: nothing of the client's headers comes with it but what is named here. */
const CONNECT_HEADERS = ['upgrade', 'sec-websocket-protocol'] as const;
const API_HEADERS = ['content-type', 'apus-clock'] as const;

function connectRequest(request: Request, note: HubPeer): Request {
  const headers = { ...named(request, CONNECT_HEADERS), ...noteHeaders(note) };
  return new Request(`http://hub${MQTT_PATH}`, { headers });
}

function apiRequest(request: Request, note: ApiNote): Request {
  const { pathname, search } = new URL(request.url);
  const { method, body } = request;
  const headers = { ...named(request, API_HEADERS), ...noteHeaders(note) };
  // Node.js asks for `duplex` where there is a body.
  return new Request(`http://hub${pathname}${search}`, {
    method,
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}

function named({ headers }: Request, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** The parts of a request that the check of its caller reads. */
function headOf(request: Request, path: string): HttpRequest {
  const headers = named(request, ['authorization', TENANT_HEADER, 'content-type']);
  const address = request.headers.get('cf-connecting-ip') ?? '';
  return { method: request.method, path, headers, body: new Uint8Array(), address };
}

/** The key of `Bearer KEY`, or the password of `Basic` with any user name, as EMQX's clients send a key's secret. */
function isKey(authorization: string, hash: Buffer): boolean {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  const decoded = /^basic$/i.test(scheme) ? Buffer.from(value, 'base64').toString() : undefined;
  const key = /^bearer$/i.test(scheme) ? value : decoded?.slice(decoded.indexOf(':') + 1);
  return key !== undefined && timingSafeEqual(sha256(key), hash);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(status: number, reason: string): Response {
  return new Response(`${reason}\n`, { status });
}
