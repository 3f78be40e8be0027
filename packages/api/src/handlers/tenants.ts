import { type Awaitable, readUsageQuestion, type UsageLine, type UsageQuestion } from '@apus/broker';
import { ConfigurationError, type TenantEntry, type TenantRegister } from '@apus/identity';
import { Answered, type ApiRequest, listAt, type Part, type Slice, valueAt } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import type { Ended } from '../schemas/users.ts';

export interface TenantFacts {
  now(): number;
  /** @throws {ApiProblem} where the door keeps no register */
  register(): Pick<TenantRegister<Ended>, 'get' | 'create' | 'change' | 'remove'>;
  tenants(slice: Slice): Awaitable<Part<TenantEntry>>;
  /** @throws {ApiProblem} where usage is not counted */
  usage(question: UsageQuestion): Awaitable<readonly UsageLine[]>;
}

/** An entry has at most 16 KB. */
const TENANT_BYTES_MAX = 32 * 1_024;

/** The register of tenants. It belongs to the operator, so the header that names a tenant does not count here. */
export const tenantHandlers = {
  listTenants: listAt('here', (facts: TenantFacts, _asked, slice) => facts.tenants(slice)),
  createTenant: ofRegister(async (register, request) => {
    const tenant = await register.create(await jsonOf(request));
    if (tenant !== undefined) return new Answered(201, tenant);
    throw new ApiProblem('ALREADY_EXISTS', 'There is a tenant of that name already.');
  }),
  getTenant: ofRegister(async (register, request) => there(await register.get(nameIn(request)), request)),
  /** Sets the given fields. Answers when a suspension has ended the tenant's clients. */
  changeTenant: ofRegister(async (register, request) => {
    const { tenant, ...ended } = there(
      await register.change(nameIn(request), await jsonOf(request)),
      request,
    );
    return { ...tenant, ...ended };
  }),
  removeTenant: ofRegister(async (register, request) => {
    there(await register.remove(nameIn(request)), request);
    return undefined;
  }),
  getUsage: valueAt('here', async (facts: TenantFacts, { query }) => {
    const question = readUsageQuestion(Object.fromEntries(query), facts.now());
    const { from, to, by } = question;
    return { data: await facts.usage(question), meta: { from, to, by } };
  }),
};

function ofRegister(
  answer: (register: ReturnType<TenantFacts['register']>, request: ApiRequest) => Promise<object | undefined>,
) {
  return valueAt('here', async (facts: TenantFacts, request) => {
    try {
      return await answer(facts.register(), request);
    } catch (error) {
      throw error instanceof ConfigurationError ? new ApiProblem('BAD_REQUEST', error.message) : error;
    }
  });
}

function nameIn({ parameters }: ApiRequest): string {
  return parameters.name ?? '';
}

function there<T>(found: T | undefined, request: ApiRequest): T {
  if (found !== undefined) return found;
  throw new ApiProblem('NOT_FOUND', `There is no tenant ${JSON.stringify(nameIn(request))}.`);
}

function jsonOf(request: ApiRequest): Awaitable<unknown> {
  return request.json('A tenant', TENANT_BYTES_MAX);
}
