import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { API_PATH, type OperationId, routeOf } from '@apus/api';
import type { Awaitable, Log } from '@apus/broker';
import { type ApiAnswer, type HeldRequest, refusal, refusalFor, TENANT_HEADER } from '@apus/door';
import { isTenant } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';
import { pathOf, queryOf } from '../handshake.ts';
import { stackOf } from '../log.ts';
import { type ApiAccess, refusalOf } from './access.ts';
import { bodyOf } from './body.ts';

/** A request of an operator; its tenant is that of the header [SEC-TENANT-4]. */
export interface ApiRequest extends HeldRequest {
  /** For publishing. */
  readonly http: IncomingMessage;
}

export type Handle = (request: ApiRequest) => Awaitable<ApiAnswer>;

/** The operations of the API, each as this door answers it. */
export type Handlers = Readonly<Record<OperationId, Handle>>;

/** Answers requests below `/api/v5` after checking the caller, and leaves the rest to `handler`. */
export function withApi(
  handler: RequestListener,
  handlers: Handlers,
  access: ApiAccess,
  log: Log,
): RequestListener {
  return (request, response) => {
    const path = pathOf(request);
    if (path !== API_PATH && !path.startsWith(`${API_PATH}/`)) {
      handler(request, response);
      return;
    }
    const refused = refusalOf(request, access, log);
    const answered =
      refused === undefined
        ? dispatch(request, path.slice(API_PATH.length), handlers).catch(refusalFor)
        : Promise.resolve(refused);
    answered.then(
      (answer) => write(response, answer),
      (error: unknown) => {
        log.error('api-failed', { path, error: stackOf(error) });
        write(response, refusal('INTERNAL_ERROR', 'This should not have happened: see the log.'));
      },
    );
  };
}

async function dispatch(http: IncomingMessage, path: string, handlers: Handlers): Promise<ApiAnswer> {
  const routed = routeOf(http.method, path, queryOf(http));
  if ('status' in routed) {
    const { code, message, allow } = routed;
    return { ...refusal(code, message), headers: { ...(allow !== undefined && { Allow: allow }) } };
  }
  const tenant = http.headers[TENANT_HEADER] ?? TENANT;
  if (!isTenant(tenant))
    return refusal('BAD_REQUEST', `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  const { id, parameters, query } = routed;
  const body = (bytesMax: number) => bodyOf(http, bytesMax);
  return await handlers[id]({ tenant, parameters, query, http, body });
}

export function write(response: ServerResponse, { status, headers = {}, body, text }: ApiAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (body === undefined) {
    response.end(text);
    return;
  }
  response.setHeader('Content-Type', 'application/json');
  response.end(`${JSON.stringify(body)}\n`);
}
