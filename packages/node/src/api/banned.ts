import type { IncomingMessage } from 'node:http';
import { BAN_KINDS, BANS_MAX, type Ban, isSuspension } from '@apus/broker';
import { BanEntryError, banEntryOf, readBan, readBanName } from '@apus/identity';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { bodyOf } from './body.ts';
import type { ApiContext } from './context.ts';
import { isAnswer, pageAnswer, pagingOf, sliceOf } from './paging.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** A ban is a few hundred characters. */
const BODY_BYTES_MAX = 16 * 1_024;

/** The author of a ban whose request names none: EMQX's word. */
const BY = 'mgmt_api';

/** Banned clients, names, addresses and tokens. */
export function banHandlers(context: ApiContext) {
  return {
    listBans: (request) => list(context, request),
    addBan: (request) => explained(() => ban(context, request)),
    removeBan: (request) => explained(() => unban(context, request)),
    clearBans: ({ tenant }) => clear(context, tenant),
  } satisfies Partial<Handlers>;
}

function list(context: ApiContext, { tenant, query }: ApiRequest): ApiAnswer {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const { entries, count } = sliceOf(fitting(bansFor(context, tenant), query), paging);
  return pageAnswer(entries.map(banEntryOf), paging, count);
}

/** The bans for clients of a tenant: an address is banned for all [SEC-TENANT-4]. */
function bansFor({ bans }: ApiContext, tenant: string): readonly Ban[] {
  return bans
    .all()
    .filter((each) => !isSuspension(each) && (each.tenant === tenant || each.as === 'peerhost'));
}

/** By `clientid`, `username`, `peerhost` or `token`, as in EMQX. */
function* fitting(bans: Iterable<Ban>, query: URLSearchParams): Generator<Ban> {
  const asked = BAN_KINDS.filter((as) => query.has(as));
  for (const each of bans)
    if (asked.length === 0 || asked.some((as) => each.as === as && each.who === query.get(as))) yield each;
}

/** When this is answered, the banned clients are disconnected. */
async function ban({ bans, clock }: ApiContext, { tenant, http }: ApiRequest): Promise<ApiAnswer> {
  const body = await jsonOf(http);
  const made = readBan(body, { tenant, by: BY, nowMs: clock.now() });
  if (bans.get(made) !== undefined)
    return refusal(400, 'ALREADY_EXISTS', `There is a ban of this ${made.as} already: delete it first.`);
  if (await bans.ban(made)) return { status: 200, body: banEntryOf(made) };
  return refusal(400, 'TOO_MANY', `There are ${BANS_MAX} bans already, which is as many as there may be.`);
}

async function unban({ bans }: ApiContext, { tenant, parameters }: ApiRequest): Promise<ApiAnswer> {
  const name = readBanName(parameters.as, parameters.who, tenant);
  if (await bans.unban(name)) return { status: 204 };
  return refusal(404, 'NOT_FOUND', `There is no ban of the ${name.as} ${JSON.stringify(name.who)}.`);
}

async function clear(context: ApiContext, tenant: string): Promise<ApiAnswer> {
  await Promise.all(bansFor(context, tenant).map((each) => context.bans.unban(each)));
  return { status: 204 };
}

async function explained(answer: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof BanEntryError) return badRequest(error.message);
    throw error;
  }
}

async function jsonOf(http: IncomingMessage): Promise<unknown> {
  const body = await bodyOf(http, BODY_BYTES_MAX);
  if (body.length > BODY_BYTES_MAX) throw new BanEntryError(`A ban has at most ${BODY_BYTES_MAX} bytes.`);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new BanEntryError('The body is not JSON.');
  }
}
