import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { API_PATH, type Method, OPERATION_IDS, OPERATIONS, type OperationId } from '@apus/api';
import type { Awaitable, Log } from '@apus/broker';
import { TENANT_HEADER } from '@apus/cloud';
import { isTenant } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';
import { type ApiAccess, refusalOf } from './access.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';

export interface ApiRequest {
  /** The tenant whose clients, sessions and messages are meant [SEC-TENANT-4]. */
  readonly tenant: string;
  /** The parts of the path that the route names, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** For a route that reads a body. */
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
  const routes = routesOf(handlers);
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    if (path !== API_PATH && !path.startsWith(`${API_PATH}/`)) {
      handler(request, response);
      return;
    }
    const refused = refusalOf(request, access);
    const answered =
      refused === undefined
        ? dispatch(request, path.slice(API_PATH.length), new URLSearchParams(query), routes)
        : Promise.resolve(refused);
    answered.then(
      (answer) => write(response, answer),
      (error: unknown) => {
        log.error('api-failed', { path, error: error instanceof Error ? error.stack : String(error) });
        write(response, refusal(500, 'INTERNAL_ERROR', 'This should not have happened: see the log.'));
      },
    );
  };
}

interface Route {
  readonly method: Method;
  readonly path: string;
  readonly pattern: RegExp;
  readonly handle: Handle;
}

/** A path without a parameter comes before one that has it in the same place. */
function routesOf(handlers: Handlers): readonly Route[] {
  const parametersIn = ({ path }: Route) => path.split(':').length;
  return OPERATION_IDS.map((id) => {
    const { method, path } = OPERATIONS[id];
    return { method, path, pattern: patternOf(path), handle: handlers[id] };
  }).sort((one, other) => parametersIn(one) - parametersIn(other));
}

async function dispatch(
  http: IncomingMessage,
  path: string,
  query: URLSearchParams,
  routes: readonly Route[],
): Promise<ApiAnswer> {
  const first = routes.find(({ pattern }) => pattern.test(path));
  if (first === undefined) return refusal(404, 'NOT_FOUND', `There is no ${API_PATH}${path}.`);
  const fitting = routes.filter((route) => route.path === first.path);
  const found = fitting.find(({ method }) => method === http.method);
  if (found === undefined) {
    const methods = fitting.map(({ method }) => method).join(', ');
    const refused = refusal(405, 'METHOD_NOT_ALLOWED', `${API_PATH}${path} takes ${methods}.`);
    return { ...refused, headers: { Allow: methods } };
  }
  const parameters = parametersOf(found.pattern, path);
  if (parameters === undefined) return badRequest('The path is not percent-encoded UTF-8.');
  const tenant = http.headers[TENANT_HEADER] ?? TENANT;
  if (!isTenant(tenant))
    return badRequest(`${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  return await found.handle({ tenant, parameters, query, http });
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
}

function parametersOf(pattern: RegExp, path: string): Readonly<Record<string, string>> | undefined {
  const groups = Object.entries(pattern.exec(path)?.groups ?? {});
  try {
    return Object.fromEntries(groups.map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    return undefined;
  }
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
