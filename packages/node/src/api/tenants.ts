import { ConfigurationError, type TenantRegister } from '@apus/identity';
import type { TenantEnded } from '../tenant-keeper.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { bodyOf } from './body.ts';
import type { ApiContext } from './context.ts';
import { isAnswer, pageAnswer, pagingOf, sliceOf } from './paging.ts';
import type { ApiRequest, Handle, Handlers } from './router.ts';

/** An entry has at most 16 KB. */
const BODY_BYTES_MAX = 32 * 1_024;

/** The register of tenants. It belongs to the operator, so the header that names a tenant does not count here. */
export function tenantHandlers(context: ApiContext) {
  const withRegister =
    (handle: (register: TenantRegister<TenantEnded>, request: ApiRequest) => Promise<ApiAnswer>): Handle =>
    (request) =>
      explained(context, request, handle);
  return {
    listTenants: (request) => list(context, request),
    createTenant: withRegister(create),
    getTenant: withRegister(one),
    changeTenant: withRegister(change),
    removeTenant: withRegister(remove),
  } satisfies Partial<Handlers>;
}

const NO_REGISTER = refusal(
  404,
  'NOT_FOUND',
  'This node keeps no register of tenants: start it with --tenants FILE.',
);

async function list({ tenants }: ApiContext, { query }: ApiRequest): Promise<ApiAnswer> {
  if (tenants === undefined) return NO_REGISTER;
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const { entries, count } = sliceOf(await tenants.all(), paging);
  return pageAnswer(entries, paging, count);
}

async function one(register: TenantRegister<TenantEnded>, { parameters }: ApiRequest): Promise<ApiAnswer> {
  const tenant = await register.get(parameters.name ?? '');
  return tenant === undefined ? notFound(parameters.name) : { status: 200, body: tenant };
}

async function create(register: TenantRegister<TenantEnded>, { http }: ApiRequest): Promise<ApiAnswer> {
  const tenant = await register.create(await jsonOf(http));
  if (tenant !== undefined) return { status: 201, body: tenant };
  return refusal(400, 'ALREADY_EXISTS', 'There is a tenant of that name already.');
}

/** Sets the given fields. Answers when a suspension has ended the tenant's clients. */
async function change(
  register: TenantRegister<TenantEnded>,
  { parameters, http }: ApiRequest,
): Promise<ApiAnswer> {
  const changed = await register.change(parameters.name ?? '', await jsonOf(http));
  return changed === undefined ? notFound(parameters.name) : { status: 200, body: changed.tenant };
}

async function remove(register: TenantRegister<TenantEnded>, { parameters }: ApiRequest): Promise<ApiAnswer> {
  const ended = await register.remove(parameters.name ?? '');
  return ended === undefined ? notFound(parameters.name) : { status: 204 };
}

function notFound(name: string | undefined): ApiAnswer {
  return refusal(404, 'NOT_FOUND', `There is no tenant ${JSON.stringify(name)}.`);
}

async function explained(
  { tenants }: ApiContext,
  request: ApiRequest,
  handle: (register: TenantRegister<TenantEnded>, request: ApiRequest) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  if (tenants === undefined) return NO_REGISTER;
  try {
    return await handle(tenants.register, request);
  } catch (error) {
    if (error instanceof ConfigurationError) return badRequest(error.message);
    throw error;
  }
}

async function jsonOf(http: ApiRequest['http']): Promise<unknown> {
  const body = await bodyOf(http, BODY_BYTES_MAX);
  if (body.length > BODY_BYTES_MAX)
    throw new ConfigurationError(`A tenant has at most ${BODY_BYTES_MAX} bytes.`);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ConfigurationError('The body is not JSON.');
  }
}
