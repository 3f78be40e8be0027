import type { BanFacts, TenantFacts, UserFacts } from '@apus/api';
import { banAll, type HasTime } from '../operator/ban.ts';
import { registerOf } from '../operator/tenants.ts';
import { usageOf } from '../operator/usage.ts';
import { userTable } from '../operator/users.ts';
import type { ApiContext } from './context.ts';

/** A ban takes most of a minute: until then another process may still use the list from before. */
export function banFacts(context: ApiContext, hasTime: HasTime): Omit<BanFacts, 'now' | 'partOf'> {
  const { bans } = context;
  return {
    banAuthor: 'operator',
    bans: () => bans.all(),
    ban: (ban) => banAll(context, hasTime, ban),
    unban: (name) => bans.remove(name),
  };
}

export function tenantFacts(context: ApiContext, hasTime: HasTime): Omit<TenantFacts & UserFacts, 'now'> {
  const register = registerOf(context, hasTime);
  return {
    register: () => register,
    async tenants({ limit, after }) {
      const { tenants, next } = await register.list(after, limit);
      return { entries: tenants, next };
    },
    users: () => userTable(context, hasTime),
    usage: (question) => usageOf(context.usage, question),
  };
}
