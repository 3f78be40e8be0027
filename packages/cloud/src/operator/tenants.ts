import {
  type Clock,
  type MessageClock,
  type RetainedStore,
  suspensionOf,
  TENANT_REMOVED,
} from '@apus/broker';
import { ConfigurationError, type TenantClients, type TenantEntry, TenantRegister } from '@apus/identity';
import type { DynamoBans, DynamoTenants, DynamoUsers } from '@apus/store-dynamodb';
import type { Enforced, Enforcement } from './enforcement.ts';
import { OperatorRequestError } from './request-error.ts';
import type { TenantsRequest } from './tenants-request.ts';

export interface TenantsOptions {
  readonly tenants: DynamoTenants;
  readonly bans: DynamoBans;
  readonly users: DynamoUsers;
  readonly retained: RetainedStore;
  readonly messageClock: MessageClock;
  readonly clock: Clock;
  readonly enforcement: Enforcement;
  readonly hasTime: () => boolean;
  /** Adds a ban to the list, and ends the clients that it names, twice. */
  readonly ban: (ban: ReturnType<typeof suspensionOf>) => Promise<Enforced | { readonly error: string }>;
}

export type TenantsAnswer =
  | { readonly tenants: readonly TenantEntry[]; readonly next?: string | undefined }
  | ({ readonly tenant: TenantEntry | null } & Partial<Enforced>)
  | ({ readonly removed: boolean } & Partial<Enforced>);

const PAGE = { messages: 100, bytes: 1024 * 1024 } as const;

/** @throws {OperatorRequestError} */
export async function answerOfTenants(
  options: TenantsOptions,
  request: TenantsRequest,
): Promise<TenantsAnswer> {
  const register = new TenantRegister<Enforced>({
    store: options.tenants,
    clients: clientsOf(options),
    clock: options.clock,
  });
  try {
    return await answer(register, request);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new OperatorRequestError(error.message);
    throw error;
  }
}

async function answer(register: TenantRegister<Enforced>, request: TenantsRequest): Promise<TenantsAnswer> {
  switch (request.action) {
    case 'tenants':
      return await register.list(request.after);
    case 'tenant':
      return { tenant: (await register.get(request.name)) ?? null };
    case 'create-tenant': {
      const tenant = await register.create(request.entry);
      if (tenant !== undefined) return { tenant };
      throw new OperatorRequestError('There is a tenant of that name already.');
    }
    case 'change-tenant':
      return (await register.change(request.name, request.change)) ?? { tenant: null };
    case 'remove-tenant': {
      const ended = await register.remove(request.name);
      return { removed: ended !== undefined, ...ended };
    }
  }
}

function clientsOf(options: TenantsOptions): TenantClients<Enforced> {
  const { bans, clock, enforcement, hasTime } = options;
  return {
    async suspend(tenant, reason) {
      const ended = await options.ban(suspensionOf(tenant, clock.now(), reason));
      if ('error' in ended) throw new OperatorRequestError(ended.error);
      return ended;
    },
    async resume(tenant) {
      await bans.remove(suspensionOf(tenant, 0));
    },
    async clear(tenant) {
      const ended = await enforcement.search(
        ({ identity }) => identity.tenant === tenant,
        TENANT_REMOVED,
        hasTime,
      );
      if (!ended.isComplete)
        throw new OperatorRequestError(
          `The time was not enough for all sessions of the tenant "${tenant}": the same request goes on.`,
        );
      await forgetRetained(options, tenant);
      await forgetUsers(options, tenant);
      for (const each of await bans.all())
        if (each.tenant === tenant && each.as !== 'tenant') await bans.remove(each);
      return ended;
    },
  };
}

/** All but topics that begin with `$`. */
async function forgetRetained(
  { retained, messageClock, clock, hasTime }: TenantsOptions,
  tenant: string,
): Promise<void> {
  let from: string | undefined;
  do {
    const page = await retained.match(tenant, '#', clock.now(), from, PAGE);
    for (const { topic } of page.messages) await retained.delete(tenant, topic, messageClock.next());
    from = page.next;
    if (from !== undefined && !hasTime())
      throw new OperatorRequestError(
        `The time was not enough for all retained messages of the tenant "${tenant}": the same request goes on.`,
      );
  } while (from !== undefined);
}

async function forgetUsers({ users }: TenantsOptions, tenant: string): Promise<void> {
  let after: string | undefined;
  do {
    const page = await users.list(tenant, after);
    for (const json of page.users) await users.remove(tenant, (JSON.parse(json) as { name: string }).name);
    after = page.next;
  } while (after !== undefined);
}
