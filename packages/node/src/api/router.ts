import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Awaitable, Log } from '@apus/broker';
import { TENANT_HEADER } from '@apus/cloud';
import { isTenant } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';
import { type ApiAccess, refusalOf } from './access.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';

/** Where the API begins: shaped as EMQX's, so that its clients and scripts fit. */
export const API_PATH = '/api/v5';

export interface ApiRequest {
  /** The tenant whose clients, sessions and messages are meant [SEC-TENANT-4]. */
  readonly tenant: string;
  /** The parts of the path that the route names, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** For a route that reads a body. */
  readonly http: IncomingMessage;
}

/** One route: `path` is below `/api/v5`, and `:name` in it stands for one part. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  handle(request: ApiRequest): Awaitable<ApiAnswer>;
}

/** Answers requests below `/api/v5` after checking the caller, and leaves the rest to `handler`. */
export function withApi(
  handler: RequestListener,
  routes: readonly ApiRoute[],
  access: ApiAccess,
  log: Log,
): RequestListener {
  const compiled = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    if (path !== API_PATH && !path.startsWith(`${API_PATH}/`)) {
      handler(request, response);
      return;
    }
    const refused = refusalOf(request, access);
    const answered =
      refused === undefined
        ? dispatch(request, path.slice(API_PATH.length), new URLSearchParams(query), compiled)
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

interface CompiledRoute {
  readonly route: ApiRoute;
  readonly pattern: RegExp;
}

async function dispatch(
  http: IncomingMessage,
  path: string,
  query: URLSearchParams,
  routes: readonly CompiledRoute[],
): Promise<ApiAnswer> {
  const fitting = routes.filter(({ pattern }) => pattern.test(path));
  const found = fitting.find(({ route }) => route.method === http.method);
  if (fitting.length === 0) return refusal(404, 'NOT_FOUND', `There is no ${API_PATH}${path}.`);
  if (found === undefined) {
    const methods = fitting.map(({ route }) => route.method).join(', ');
    return refusal(405, 'METHOD_NOT_ALLOWED', `${API_PATH}${path} takes ${methods}.`);
  }
  const parameters = parametersOf(found.pattern, path);
  if (parameters === undefined) return badRequest('The path is not percent-encoded UTF-8.');
  const tenant = http.headers[TENANT_HEADER] ?? TENANT;
  if (!isTenant(tenant))
    return badRequest(`${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  return await found.route.handle({ tenant, parameters, query, http });
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
