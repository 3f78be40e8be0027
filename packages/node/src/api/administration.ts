import { ApiProblem, type TenantFacts, type UserFacts } from '@apus/api';
import { sliceOf } from '@apus/door';
import type { ApiContext } from './context.ts';
import { usersOf } from './users.ts';

export function tenantFacts({ tenants, usage, clock, usersFiles }: ApiContext): TenantFacts & UserFacts {
  const kept = () => {
    if (tenants !== undefined) return tenants;
    throw new ApiProblem(
      'NOT_FOUND',
      'This node keeps no register of tenants: start it with --tenants FILE.',
    );
  };
  return {
    now: () => clock.now(),
    register: () => kept().register,
    tenants: async (slice) => sliceOf(await kept().all(), slice),
    users: () => usersOf(usersFiles),
    usage: (question) => usage.report(question),
  };
}
