import { ApiProblem } from '@apus/api';
import { suspensionOf, TENANT_REMOVED } from '@apus/broker';
import { type TenantClients, TenantRegister } from '@apus/identity';
import { banAll, type HasTime, type OperatorContext } from './ban.ts';
import type { Enforced } from './enforcement.ts';

const PAGE = { messages: 100, bytes: 1024 * 1024 } as const;

/** The register of a deployment. Its changes go on as long as there is time. */
export function registerOf(context: OperatorContext, hasTime: HasTime): TenantRegister<Enforced> {
  const { tenants: store, clock } = context;
  return new TenantRegister({ store, clients: clientsOf(context, hasTime), clock });
}

function clientsOf(context: OperatorContext, hasTime: HasTime): TenantClients<Enforced> {
  const { bans, clock, enforcement } = context;
  return {
    async suspend(tenant, reason) {
      return await banAll(context, hasTime, suspensionOf(tenant, clock.now(), reason));
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
      if (!ended.is_complete)
        throw new ApiProblem(
          'BAD_REQUEST',
          `The time was not enough for all sessions of the tenant "${tenant}": the same request goes on.`,
        );
      await forgetRetained(context, hasTime, tenant);
      await forgetUsers(context, tenant);
      for (const each of await bans.all())
        if (each.tenant === tenant && each.as !== 'tenant') await bans.remove(each);
      return ended;
    },
  };
}

/** All but topics that begin with `$`. */
async function forgetRetained(
  { retained, environment: { messageClock }, clock }: OperatorContext,
  hasTime: HasTime,
  tenant: string,
): Promise<void> {
  let from: string | undefined;
  do {
    const page = await retained.match(tenant, '#', clock.now(), from, PAGE);
    for (const { topic } of page.messages) await retained.delete(tenant, topic, messageClock.next());
    from = page.next;
    if (from !== undefined && !hasTime())
      throw new ApiProblem(
        'BAD_REQUEST',
        `The time was not enough for all retained messages of the tenant "${tenant}": the same request goes on.`,
      );
  } while (from !== undefined);
}

async function forgetUsers({ users }: OperatorContext, tenant: string): Promise<void> {
  let after: string | undefined;
  do {
    const page = await users.list(tenant, after);
    for (const json of page.users) await users.remove(tenant, (JSON.parse(json) as { name: string }).name);
    after = page.next;
  } while (after !== undefined);
}
