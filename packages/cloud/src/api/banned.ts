import { BAN_KINDS } from '@apus/broker';
import type { OperatorBan } from '../operator/create-operator.ts';
import type { Enforced } from '../operator/enforcement.ts';
import { type HttpAnswer, problem } from '../publish/http.ts';
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
import { pagingOf, partOf } from './pages.ts';

/** Fields that the operator's function has beside those of a ban. */
const NOT_OF_A_BAN = ['action', 'tenant'];

export function banHandlers(context: ApiContext) {
  return {
    listBans: (request) => list(context, request),
    addBan: (request) => add(context, request),
    removeBan: (request) => remove(context, request),
    clearBans: (request) => clear(context, request),
  } satisfies Partial<Handlers>;
}

async function list(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { query } = request;
  const paging = pagingOf(query);
  const asked = BAN_KINDS.filter((as) => query.has(as));
  const fitting = (await bansOf(context, request)).filter(
    ({ as, who }) => asked.length === 0 || asked.some((each) => each === as && who === query.get(each)),
  );
  return partOf(fitting.map(withoutTenant), paging);
}

/** The answer takes most of a minute: until then another process may still use the list from before the ban. */
async function add(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const fields = objectIn(request);
  const unknown = NOT_OF_A_BAN.find((name) => name in fields);
  if (unknown !== undefined) throw new ApiProblem('BAD_REQUEST', `"${unknown}" is not known here.`);
  const asked = { ...fields, action: 'ban', tenant: request.tenant };
  type Banned = { readonly ban: OperatorBan } & Enforced;
  const { ban, expelled, isComplete } = await operate<Banned>(context, request, asked);
  return ok({ ...withoutTenant(ban), expelled, is_complete: isComplete });
}

async function remove(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { as, who } = request.parameters;
  if (await unban(context, request, as, who)) return NO_CONTENT;
  return problem('NOT_FOUND', `There is no ban of the ${as} ${JSON.stringify(who)}.`);
}

async function clear(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  for (const { as, who } of await bansOf(context, request)) await unban(context, request, as, who);
  return NO_CONTENT;
}

async function unban(context: ApiContext, request: ApiRequest, as?: string, who?: string): Promise<boolean> {
  const asked = { action: 'unban', tenant: request.tenant, as, who };
  return (await operate<{ readonly unbanned: boolean }>(context, request, asked)).unbanned;
}

async function bansOf(context: ApiContext, request: ApiRequest): Promise<readonly OperatorBan[]> {
  const asked = { action: 'bans', tenant: request.tenant };
  return (await operate<{ readonly bans: readonly OperatorBan[] }>(context, request, asked)).bans;
}

function withoutTenant({ tenant: _, ...ban }: OperatorBan): object {
  return ban;
}
