import { API_PATH, ApiProblem, OPERATIONS, type OperationId, problemOf, routeOf } from '@apus/api';
import { reasonOf } from '@apus/broker';
import { type HttpAnswer, type HttpRequest, problem } from '@apus/door';
import type { InvocationContext } from '../events/gateway.ts';
import { Enforcement } from '../operator/enforcement.ts';
import {
  type FunctionUrlEvent,
  type FunctionUrlResult,
  requestOf,
  resultOf,
} from '../publish/function-url.ts';
import { type OperatorAccess, OperatorGate, tenantOf } from './access.ts';
import { type Answer, answerOf } from './answer.ts';
import { breakerReader } from './breaker.ts';
import type { ApiContext } from './context.ts';
import { factsOf } from './facts.ts';
import { Kept } from './kept.ts';
import { publishAt } from './publish.ts';
import { COUNTED_TENANTS_MAX } from './tenant-counts.ts';
import { TENANTS_WITH_FILTERS_MAX } from './topics.ts';

const QUERY_CHARACTERS_MAX = 4_096;

/** Operations for which the operator's function has neither settings nor permissions, and publishing. */
const ELSEWHERE = [
  ...(['publish', 'publishBulk', 'getMetrics', 'getPrometheus', 'getBreaker', 'getAsyncApi'] as const),
  ...(['listBridges', 'listRules', 'listDeadLetters', 'sendDeadLetters', 'discardDeadLetters'] as const),
  ...(['getDeadLetter', 'sendDeadLetter', 'discardDeadLetter'] as const),
] as const;

/** Made for each function. */
type MadeHere = 'enforcement' | 'counts' | 'filters';

export type OperatorFunctionOptions = Omit<
  ApiContext,
  MadeHere | 'rules' | 'bridges' | 'counters' | 'breaker' | 'described' | 'topicLevelsMax' | 'published'
>;

export interface ApiFunctionOptions extends Omit<ApiContext, MadeHere> {
  readonly access: OperatorAccess;
}

export type ApiFunction = (event: FunctionUrlEvent, context: InvocationContext) => Promise<FunctionUrlResult>;

/** The tenant of a request, or the answer that refuses it. */
type Admit = (request: HttpRequest) => string | HttpAnswer;

/**
 * The function behind the URL of operators: the operations of `/api/v5` as a node answers them. One event at a time, as
 * Lambda has it.
 */
export function createApiFunction({ access, ...options }: ApiFunctionOptions): ApiFunction {
  const gate = new OperatorGate(options.clock, access);
  const context = contextOf(options);
  const breaker = breakerReader(options.breaker, options.clock);
  return answering(
    context,
    (request) => gate.admit(request),
    (id, request, invocation) =>
      id === 'publish' || id === 'publishBulk'
        ? publishAt(id, context, request, invocation)
        : answerOf(id, factsOf(context, breaker, invocation), request),
  );
}

/**
 * The operator's function. It takes the event of a function URL, and is invoked with AWS credentials: every caller is
 * the operator, for the tenant that the event names [SEC-TENANT-5]. A ban takes most of a minute; after that nothing is
 * accepted from the banned clients, or delivered to them.
 *
 *     {
 *       "rawPath": "/api/v5/banned",
 *       "requestContext": {"http": {"method": "POST"}},
 *       "headers": {"apus-tenant": "acme"},
 *       "body": "{\"as\": \"username\", \"who\": \"anna\"}"
 *     }
 */
export function createOperator(options: OperatorFunctionOptions): ApiFunction {
  const context = contextOf(options);
  const breaker = breakerReader(undefined, options.clock);
  const answered = answering(context, tenantOf, async (id, request, invocation) => {
    if (!isElsewhere(id)) return await answerOf(id, factsOf(context, breaker, invocation), request);
    const message = "The operator's function does not answer this: deploy with --http-api, and ask its URL.";
    throw new ApiProblem('NOT_SUPPORTED', message);
  });
  return async (event, invocation) => {
    if (typeof event.rawPath === 'string' && typeof event.requestContext?.http?.method === 'string')
      return await answered({ ...event, headers: inLowerCase(event.headers) }, invocation);
    const example = '{"rawPath": "/api/v5/clients", "requestContext": {"http": {"method": "GET"}}}';
    return resultOf(problem('BAD_REQUEST', `A request is the event of a function URL: ${example}`));
  };
}

function isElsewhere(id: OperationId): id is (typeof ELSEWHERE)[number] {
  return ELSEWHERE.some((each) => each === id);
}

/** A person who writes an event by hand writes `Apus-Tenant` as the documentation does. */
function inLowerCase(headers: FunctionUrlEvent['headers'] = {}) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function contextOf(options: Omit<ApiContext, MadeHere>): ApiContext {
  return {
    ...options,
    enforcement: new Enforcement(options),
    counts: new Kept(options.clock, COUNTED_TENANTS_MAX),
    filters: new Kept(options.clock, TENANTS_WITH_FILTERS_MAX),
  };
}

function answering({ log }: ApiContext, admit: Admit, answer: Answer): ApiFunction {
  return async (event, invocation) => {
    const request = requestOf(event);
    try {
      return resultOf(await admitted(admit, answer, request, invocation));
    } catch (error) {
      const found = problemOf(error);
      if (found !== undefined) return resultOf(problem(found.code, found.message));
      log.error('api-failed', { path: request.path, error: reasonOf(error) });
      const message = 'This should not have happened: see the log of the function.';
      return resultOf(problem('INTERNAL_ERROR', message));
    }
  };
}

async function admitted(
  admit: Admit,
  answer: Answer,
  request: HttpRequest,
  invocation: InvocationContext,
): Promise<HttpAnswer> {
  const tenant = admit(request);
  if (typeof tenant !== 'string') return tenant;
  const { method, path, query: text = '' } = request;
  if (text.length > QUERY_CHARACTERS_MAX)
    throw new ApiProblem('BAD_REQUEST', `The query has at most ${QUERY_CHARACTERS_MAX} characters.`);
  if (!path.startsWith(`${API_PATH}/`)) throw new ApiProblem('NOT_FOUND', `There is no ${path}.`);
  const routed = routeOf(method, path.slice(API_PATH.length), text);
  if ('status' in routed) {
    const { code, message, allow } = routed;
    return problem(code, message, allow === undefined ? {} : { allow });
  }
  const { id, parameters, query } = routed;
  const { doors, elsewhere = '' } = OPERATIONS[id];
  if (doors?.includes('deployment') === false) throw new ApiProblem('NOT_SUPPORTED', elsewhere);
  return await answer(id, { tenant, parameters, query, http: request }, invocation);
}
