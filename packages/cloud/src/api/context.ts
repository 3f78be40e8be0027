import type { OperationId } from '@apus/api';
import type { Awaitable, QuotaScopes } from '@apus/broker';
import type { DynamoStores } from '@apus/store-dynamodb';
import type { InvocationContext } from '../events/gateway.ts';
import type { MonthCounters } from '../metrics/month-counters.ts';
import type { Operator, OperatorAnswer, OperatorOptions } from '../operator/create-operator.ts';
import { type HttpAnswer, type HttpRequest, jsonAnswer } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import type { DescribedTopics } from './async-api.ts';
import type { ApiBreaker } from './breaker.ts';
import type { DeployedBridge } from './bridges.ts';
import type { ApiRules } from './rules.ts';
import type { TenantCounts } from './tenant-counts.ts';

export interface ApiContext extends Omit<OperatorOptions, 'sleep'> {
  readonly subscriptions: DynamoStores['subscriptions'];
  readonly operator: Operator;
  /** Undefined where there are no rules. */
  readonly rules?: ApiRules | undefined;
  /** @default none */
  readonly bridges?: readonly DeployedBridge[] | undefined;
  /** Undefined: there is no CloudWatch, and requests for metrics are refused as unavailable. */
  readonly counters?: MonthCounters | undefined;
  /** Undefined where the deployment has none. */
  readonly breaker?: ApiBreaker | undefined;
  /** In force where a tenant has no plan of its own, and an identity no quotas of its own. */
  readonly quotas: QuotaScopes;
  readonly counts: TenantCounts;
  /** Undefined where no topics are described. */
  readonly described?: DescribedTopics | undefined;
  /** @default the broker's own default */
  readonly topicLevelsMax?: number | undefined;
  /** Called with the number of messages that a request has published. */
  readonly published?: ((messages: number) => void) | undefined;
}

/** A request of an operator who was let in. */
export interface ApiRequest {
  readonly tenant: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly http: HttpRequest;
  readonly invocation: InvocationContext;
}

export type Handle = (request: ApiRequest) => Awaitable<HttpAnswer>;

/** The operations of the API, each as a deployment answers it. */
export type Handlers = Readonly<Record<OperationId, Handle>>;

export const NO_CONTENT: HttpAnswer = { status: 204, headers: { 'cache-control': 'no-store' }, body: '' };

/** A ban or a tenant has at most 16 KB. */
const BODY_BYTES_MAX = 32 * 1_024;

/** Asks the operator's function, in this process. @throws {ApiProblem} with its sentence */
export async function operate<T extends OperatorAnswer>(
  { operator }: ApiContext,
  { invocation }: ApiRequest,
  request: object,
): Promise<T> {
  const answer = await operator(request, invocation);
  if ('error' in answer) throw new ApiProblem('BAD_REQUEST', answer.error);
  return answer as T;
}

/** The object in the body of a request. @throws {ApiProblem} */
export function objectIn({ http: { body } }: ApiRequest): Readonly<Record<string, unknown>> {
  if (body.length > BODY_BYTES_MAX)
    throw new ApiProblem('BAD_REQUEST', `The body has at most ${BODY_BYTES_MAX} bytes.`);
  const value = parsed(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ApiProblem('BAD_REQUEST', 'The body is a JSON object.');
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ApiProblem('BAD_REQUEST', 'The body is not JSON.');
  }
}

export function ok(value: unknown): HttpAnswer {
  return jsonAnswer(200, value);
}

export function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}
