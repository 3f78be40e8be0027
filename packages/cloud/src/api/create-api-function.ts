import { API_PATH, openApiDocument, routeOf } from '@apus/api';
import { UsageQuestionError } from '@apus/broker';
import { BanEntryError } from '@apus/identity';
import type { InvocationContext } from '../events/gateway.ts';
import { createOperator, type OperatorOptions } from '../operator/create-operator.ts';
import { OperatorRequestError } from '../operator/request-error.ts';
import {
  type FunctionUrlEvent,
  type FunctionUrlResult,
  requestOf,
  resultOf,
} from '../publish/function-url.ts';
import { type HttpAnswer, type HttpRequest, jsonAnswer, problem } from '../publish/http.ts';
import { StreamQuestionError } from '../streams/question.ts';
import { type OperatorAccess, OperatorGate } from './access.ts';
import { ApiProblem } from './api-problem.ts';
import { asyncApiHandlers } from './async-api.ts';
import { banHandlers } from './banned.ts';
import { breakerHandlers } from './breaker.ts';
import { bridgeHandlers } from './bridges.ts';
import { clientHandlers } from './clients.ts';
import type { ApiContext, Handlers } from './context.ts';
import { messageHandlers } from './messages.ts';
import { metricsHandlers } from './metrics.ts';
import { publishHandlers } from './publish.ts';
import { quotaHandlers } from './quotas.ts';
import { ruleHandlers } from './rules.ts';
import { statsHandlers } from './stats.ts';
import { subscriptionHandlers } from './subscriptions.ts';
import { TenantCounts } from './tenant-counts.ts';
import { tenantHandlers } from './tenants.ts';

const QUERY_CHARACTERS_MAX = 4_096;

export interface ApiFunctionOptions
  extends Omit<ApiContext, 'operator' | 'counts'>,
    Pick<OperatorOptions, 'sleep'> {
  readonly access: OperatorAccess;
}

export type ApiFunction = (event: FunctionUrlEvent, context: InvocationContext) => Promise<FunctionUrlResult>;

/**
 * The function behind the URL of operators: the operations of `/api/v5` as a node answers them, over the actions of the
 * operator's function. One event at a time, as Lambda has it.
 */
export function createApiFunction(options: ApiFunctionOptions): ApiFunction {
  const gate = new OperatorGate(options.clock, options.access);
  const handlers = handlersOf({
    ...options,
    operator: createOperator(options),
    counts: new TenantCounts(options.scan, options.clock),
  });
  return async (event, context) => {
    const request = requestOf(event);
    try {
      return resultOf(await answer(gate, handlers, request, context));
    } catch (error) {
      const given = answerOfError(error);
      if (given !== undefined) return resultOf(given);
      options.log.error('api-failed', { path: request.path, error: String(error) });
      const message = 'This should not have happened: see the log of the function.';
      return resultOf(jsonAnswer(500, { code: 'INTERNAL_ERROR', message }));
    }
  };
}

/** Every operation of the document, and no other. */
function handlersOf(context: ApiContext): Handlers {
  const document = openApiDocument();
  return {
    ...clientHandlers(context),
    ...banHandlers(context),
    ...messageHandlers(context),
    ...publishHandlers(context),
    ...tenantHandlers(context),
    ...statsHandlers(context),
    ...breakerHandlers(context),
    ...quotaHandlers(context),
    ...metricsHandlers(context),
    ...subscriptionHandlers(context),
    ...ruleHandlers(context),
    ...asyncApiHandlers(context),
    ...bridgeHandlers(context),
    getOpenApi: () => jsonAnswer(200, document),
  };
}

async function answer(
  gate: OperatorGate,
  handlers: Handlers,
  request: HttpRequest,
  invocation: InvocationContext,
): Promise<HttpAnswer> {
  const tenant = gate.admit(request);
  if (typeof tenant !== 'string') return tenant;
  const { method, path, query = '' } = request;
  if (query.length > QUERY_CHARACTERS_MAX)
    return problem('BAD_REQUEST', `The query has at most ${QUERY_CHARACTERS_MAX} characters.`);
  if (!path.startsWith(`${API_PATH}/`)) return problem('NOT_FOUND', `There is no ${path}.`);
  const routed = routeOf(method, path.slice(API_PATH.length));
  if ('status' in routed) {
    const { code, message, allow } = routed;
    return problem(code, message, allow === undefined ? {} : { allow });
  }
  const { id, parameters } = routed;
  return await handlers[id]({
    ...{ tenant, parameters, query: new URLSearchParams(query), http: request, invocation },
  });
}

/** Undefined: the error is a defect, or comes from the infrastructure. */
function answerOfError(error: unknown): HttpAnswer | undefined {
  if (error instanceof ApiProblem || error instanceof StreamQuestionError)
    return problem(error.code, error.message);
  const isOfRequest = [UsageQuestionError, BanEntryError, OperatorRequestError].some(
    (kind) => error instanceof kind,
  );
  return isOfRequest ? problem('BAD_REQUEST', (error as Error).message) : undefined;
}
