import { type Awaitable, BAN_KINDS, type Ban, type BanName, isSuspension } from '@apus/broker';
import { banEntryOf, readBan, readBanName } from '@apus/identity';
import { type Asked, listAt, mapped, type Part, type Slice, valueAt } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import type { BanLine } from '../schemas/clients.ts';
import type { Ended } from '../schemas/users.ts';

export interface BanFacts {
  now(): number;
  /** The author of a ban whose request names none. */
  readonly banAuthor: string;
  /** All that are in force. */
  bans(): Awaitable<readonly Ban[]>;
  /**
   * When it resolves, the banned clients are disconnected. The fields stand in the answer beside the ban.
   *
   * @throws {ApiProblem} where there is no room for it
   */
  ban(ban: Ban): Awaitable<Ended>;
  /** False: there is no such ban. */
  unban(name: BanName): Awaitable<boolean>;
  partOf<T>(all: readonly T[], slice: Slice): Part<T>;
}

/** Bytes of a ban, which is a few hundred characters. */
const BAN_BYTES_MAX = 16 * 1_024;

/** Banned clients, names, addresses and tokens. */
export const banHandlers = {
  /** By `clientid`, `username`, `peerhost` or `token`, as in EMQX. */
  listBans: listAt('here', async (facts: BanFacts, { tenant, query }, slice): Promise<Part<BanLine>> => {
    const asked = BAN_KINDS.filter((as) => query.has(as));
    const fits = ({ as, who }: Ban) =>
      asked.length === 0 || asked.some((each) => each === as && who === query.get(each));
    return mapped(facts.partOf((await bansFor(facts, tenant)).filter(fits), slice), lineOf);
  }),
  addBan: valueAt('here', async (facts: BanFacts, request): Promise<BanLine> => {
    const value = await request.json('A ban', BAN_BYTES_MAX);
    const ban = readBan(value, { tenant: request.tenant, by: facts.banAuthor, nowMs: facts.now() });
    const ended = await facts.ban(ban);
    return { ...lineOf(ban), ...ended };
  }),
  removeBan: valueAt('here', async (facts: BanFacts, { tenant, parameters }: Asked) => {
    const name = readBanName(parameters.as, parameters.who, tenant);
    if (await facts.unban(name)) return undefined;
    throw new ApiProblem('NOT_FOUND', `There is no ban of the ${name.as} ${JSON.stringify(name.who)}.`);
  }),
  clearBans: valueAt('here', async (facts: BanFacts, { tenant }) => {
    for (const each of await bansFor(facts, tenant)) await facts.unban(each);
    return undefined;
  }),
};

/** The bans for clients of a tenant: an address is banned for all [SEC-TENANT-4]. */
async function bansFor(facts: BanFacts, tenant: string): Promise<readonly Ban[]> {
  return (await facts.bans()).filter(
    (each) => !isSuspension(each) && (each.tenant === tenant || each.as === 'peerhost'),
  );
}

/** Suspensions, which are bans of tenants, are not listed. */
function lineOf(ban: Ban): BanLine {
  return banEntryOf(ban) as BanLine;
}
