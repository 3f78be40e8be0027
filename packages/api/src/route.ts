import { API_PATH } from './open-api.ts';
import type { Method } from './operation.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from './operations/index.ts';
import { queryProblem } from './query.ts';

/** The operation that a request asks for, or the answer to a request for none. */
export type Routed =
  | {
      readonly id: OperationId;
      readonly parameters: Readonly<Record<string, string>>;
      readonly query: URLSearchParams;
    }
  | {
      readonly status: 400 | 404 | 405;
      readonly code: 'BAD_REQUEST' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED';
      readonly message: string;
      /** Methods that the path takes, for the header `Allow` of a 405. */
      readonly allow?: string;
    };

interface Route {
  readonly id: OperationId;
  readonly method: Method;
  readonly path: string;
  readonly pattern: RegExp;
}

const parametersIn = ({ path }: Route) => path.split(':').length;

/** A path without a parameter comes before one that has it in the same place. */
const ROUTES: readonly Route[] = OPERATION_IDS.map((id) => {
  const { method, path } = OPERATIONS[id];
  return { id, method, path, pattern: patternOf(path) };
}).sort((one, other) => parametersIn(one) - parametersIn(other));

/**
 * @param path below `/api/v5`, without a query
 * @param text the query
 */
export function routeOf(method: string | undefined, path: string, text: string): Routed {
  const first = ROUTES.find(({ pattern }) => pattern.test(path));
  if (first === undefined)
    return { status: 404, code: 'NOT_FOUND', message: `There is no ${API_PATH}${path}.` };
  const ofPath = ROUTES.filter((route) => route.path === first.path);
  const found = ofPath.find((route) => route.method === method);
  if (found === undefined) {
    const allow = ofPath.map((route) => route.method).join(', ');
    const message = `${API_PATH}${path} takes ${allow}.`;
    return { status: 405, code: 'METHOD_NOT_ALLOWED', message, allow };
  }
  const query = new URLSearchParams(text);
  const problem = queryProblem(query);
  if (problem !== undefined) return badRequest(problem);
  const parameters = parametersOf(found.pattern, path, query);
  if (parameters === undefined) return badRequest('The path is not percent-encoded UTF-8.');
  const empty = Object.keys(parameters).find((name) => parameters[name] === '');
  if (empty !== undefined) return badRequest(`${empty} is missing.`);
  return { id: found.id, parameters, query };
}

function badRequest(message: string): Routed {
  return { status: 400, code: 'BAD_REQUEST', message };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]*)')}$`);
}

/** A part of the path that is empty stands in the query (`pathWith`). */
function parametersOf(
  pattern: RegExp,
  path: string,
  query: URLSearchParams,
): Readonly<Record<string, string>> | undefined {
  const groups = Object.entries(pattern.exec(path)?.groups ?? {});
  try {
    return Object.fromEntries(
      groups.map(([name, value]) => [name, decodeURIComponent(value) || (query.get(name) ?? '')]),
    );
  } catch {
    return undefined;
  }
}
