import { quotasInForce, type TenantPlan } from '@apus/broker';
import { parseTenant } from '@apus/identity';
import type { HttpAnswer } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import { type ApiContext, type ApiRequest, type Handlers, ok } from './context.ts';
import type { Counts } from './tenant-counts.ts';

/** Limits of a tenant, of its identities and of all together. A deployment knows for only some how much is used. */
export function quotaHandlers(context: ApiContext) {
  return { listQuotas: (request) => list(context, request) } satisfies Partial<Handlers>;
}

async function list(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { quotas, breaker } = context;
  const [plan, counts, minute] = await Promise.all([
    planOf(context, request),
    countsOf(context, request),
    breaker?.messages.lastMinute(),
  ]);
  const used = {
    tenant: { connectionsMax: counts?.connected, sessionsMax: counts?.sessions },
    broker: { messagesPerMinuteMax: minute?.value },
  };
  return ok({ data: quotasInForce(quotas, plan, used) });
}

async function planOf({ tenants }: ApiContext, { tenant }: ApiRequest): Promise<TenantPlan | undefined> {
  const json = await tenants.get(tenant);
  return json === undefined ? undefined : parseTenant(json).plan;
}

/** Quotas are answered also where sessions are too many to be counted. */
async function countsOf(
  { counts }: ApiContext,
  { tenant, invocation }: ApiRequest,
): Promise<Counts | undefined> {
  try {
    return await counts.of(tenant, invocation);
  } catch (error) {
    if (error instanceof ApiProblem) return undefined;
    throw error;
  }
}
