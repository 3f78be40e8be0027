import { readUsageQuestion } from '@apus/broker';
import type { TenantEntry } from '@apus/identity';
import { answerOfUsage } from '../operator/usage.ts';
import { type HttpAnswer, jsonAnswer, problem } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import {
  type ApiContext,
  type ApiRequest,
  type Handlers,
  NO_CONTENT,
  objectIn,
  ok,
  operate,
} from './context.ts';
import { pageAnswer, pagingOf } from './pages.ts';

/** The register of tenants, and what they use. */
export function tenantHandlers(context: ApiContext) {
  return {
    listTenants: (request) => list(context, request),
    createTenant: (request) => create(context, request),
    getTenant: (request) => one(context, request),
    changeTenant: (request) => change(context, request),
    removeTenant: (request) => remove(context, request),
    getUsage: (request) => usage(context, request),
  } satisfies Partial<Handlers>;
}

/** A page of the table, which has a length of its own. */
async function list(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { limit, after } = pagingOf(request.query);
  type Listing = { readonly tenants: readonly TenantEntry[]; readonly next?: string | undefined };
  const { tenants, next } = await operate<Listing>(context, request, { action: 'tenants', after });
  const data = tenants.slice(0, limit);
  const isCut = data.length < tenants.length;
  return pageAnswer(data, { limit }, isCut ? data.at(-1)?.name : next);
}

async function create(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const entry = objectIn(request);
  const { tenant } = await operate<Changed>(context, request, { action: 'create-tenant', entry });
  return jsonAnswer(201, tenant);
}

type Changed = { readonly tenant: TenantEntry | null };

async function one(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { name } = request.parameters;
  const { tenant } = await operate<Changed>(context, request, { action: 'tenant', name });
  return tenant === null ? notFound(request) : ok(tenant);
}

async function change(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { name } = request.parameters;
  const asked = { action: 'change-tenant', name, change: objectIn(request) };
  const { tenant } = await operate<Changed>(context, request, asked);
  return tenant === null ? notFound(request) : ok(tenant);
}

async function remove(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { name } = request.parameters;
  const asked = { action: 'remove-tenant', name };
  const { removed } = await operate<{ readonly removed: boolean }>(context, request, asked);
  return removed ? NO_CONTENT : notFound(request);
}

function notFound({ parameters }: ApiRequest): HttpAnswer {
  return problem('NOT_FOUND', `There is no tenant ${JSON.stringify(parameters.name)}.`);
}

async function usage({ usage: counted, clock }: ApiContext, { query }: ApiRequest): Promise<HttpAnswer> {
  const question = readUsageQuestion(Object.fromEntries(query), clock.now());
  if (counted === undefined)
    throw new ApiProblem('NOT_SUPPORTED', 'This deployment does not count usage: deploy it with --usage.');
  return ok(await answerOfUsage(counted, question));
}
