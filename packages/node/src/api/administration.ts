import { ApiProblem, type BanFacts, type TenantFacts, type UserFacts } from '@apus/api';
import { BANS_MAX } from '@apus/broker';
import type { ApiContext } from './context.ts';
import { sliceOf } from './paging.ts';
import { usersOf } from './users.ts';

/** The author of a ban whose request names none: EMQX's word. */
const BY = 'mgmt_api';

export function banFacts({ bans, clock }: ApiContext): BanFacts {
  return {
    now: () => clock.now(),
    banAuthor: BY,
    bans: () => bans.all(),
    async ban(ban) {
      if (bans.get(ban) !== undefined)
        throw new ApiProblem('ALREADY_EXISTS', `There is a ban of this ${ban.as} already: delete it first.`);
      if (await bans.ban(ban)) return {};
      const message = `There are ${BANS_MAX} bans already, which is as many as there may be.`;
      throw new ApiProblem('TOO_MANY', message);
    },
    unban: (name) => bans.unban(name),
    partOf: sliceOf,
  };
}

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
