import { ApiProblem, type BanFacts } from '@apus/api';
import { BANS_MAX } from '@apus/broker';
import { sliceOf } from './paging.ts';
import type { ApiSources } from './sources.ts';

/** The author of a ban whose request names none: EMQX's word. */
const BY = 'mgmt_api';

export function banFacts({ bans, clock }: ApiSources): BanFacts {
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
