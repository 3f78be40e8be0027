import {
  BANS_MAX,
  type Ban,
  type Clock,
  type Identity,
  isSuspension,
  KICK,
  type RetainedStore,
  type SessionStore,
  type Streams,
  UsageQuestionError,
} from '@apus/broker';
import { type BanEntry, BanEntryError, banEntryOf, DEFAULT_TENANT } from '@apus/identity';
import type { DynamoBans, DynamoPresence, DynamoTenants, DynamoUsers } from '@apus/store-dynamodb';
import type { InvocationContext } from '../events/gateway.ts';
import { StreamQuestionError } from '../streams/question.ts';
import type { UsageStore } from '../usage/environment-usage.ts';
import { type ClientListing, listClients, oneClient } from './clients.ts';
import { type Enforced, Enforcement, type EnforcementOptions } from './enforcement.ts';
import { listMembers, type MemberListing } from './members.ts';
import { type OperatorRequest, readRequest } from './request.ts';
import { OperatorRequestError } from './request-error.ts';
import { answerOfStreams, type StreamsAnswer } from './streams.ts';
import { answerOfTenants, type TenantsAnswer, type TenantsOptions } from './tenants.ts';
import { answerOfUsage, type UsageAnswer } from './usage.ts';
import { isOfUser, listUsers, REMOVED, setPassword, type UserListing } from './users.ts';
import type { UsersRequest } from './users-request.ts';

/**
 * How long after a ban the sessions of the banned clients are ended once more. A process uses its list for 30 s, its
 * handler may live for another 5 s, and clocks differ. After that no process lets a banned client in.
 */
const LIST_IN_FORCE_MS = 40_000;

/** A request with less time left begins no further round. */
const RESERVE_MS = 15_000;

export interface OperatorOptions extends EnforcementOptions {
  readonly bans: DynamoBans;
  readonly users: DynamoUsers;
  readonly tenants: DynamoTenants;
  /** Forgets what is retained for a tenant that is removed. */
  readonly retained: RetainedStore;
  readonly sessions: Pick<SessionStore, 'get'>;
  /** @default none */
  readonly streams?: Streams | undefined;
  /** Where usage is counted. @default usage is not counted, and a request for it is refused */
  readonly usage?: UsageStore | undefined;
  /** @default none */
  readonly presence?: DynamoPresence | undefined;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A ban, with the tenant that it is for: empty for an address. */
export type OperatorBan = BanEntry & { readonly tenant: string };

export type OperatorAnswer =
  | ClientListing
  | { readonly kicked: boolean }
  | ({ readonly ban: OperatorBan } & Enforced)
  | { readonly unbanned: boolean }
  | { readonly bans: readonly OperatorBan[] }
  | MemberListing
  | StreamsAnswer
  | UserListing
  | TenantsAnswer
  | UsageAnswer
  | { readonly added: boolean }
  | { readonly changed: boolean }
  | ({ readonly removed: boolean } & Enforced)
  /** A sentence about the mistake in the request, or the obstacle. */
  | { readonly error: string };

export type Operator = (request: unknown, context: InvocationContext) => Promise<OperatorAnswer>;

/**
 * The operator's function, invoked with AWS credentials: lists clients, ends connections, bans clients, lists members
 * of rooms, and reads streams. A ban takes most of a minute; after that nothing is accepted from the banned clients,
 * or delivered to them.
 *
 *     {"action": "clients", "username": "anna"}
 *     {"action": "kick", "clientId": "phone"}
 *     {"action": "ban", "as": "username", "who": "anna", "until": "2026-01-31T12:00:00Z", "reason": "spam"}
 *     {"action": "revoke", "token": "8f14e45f"}
 *     {"action": "unban", "as": "username", "who": "anna"}
 *     {"action": "bans"}
 *     {"action": "members", "room": "room-7"}
 *     {"action": "streams"}
 *     {"action": "stream-messages", "name": "chat", "topic": "chat/room-7", "limit": 50, "reverse": true}
 *     {"action": "usage", "tenant": "acme", "from": "2026-11", "to": "2026-12", "by": "day"}
 *     {"action": "add-user", "user": {"name": "anna", "password": "scrypt:…", "publish": [], "subscribe": ["#"]}}
 *     {"action": "remove-user", "name": "anna"}
 *     {"action": "create-tenant", "entry": {"name": "acme", "plan": {"connectionsMax": 100}}}
 *     {"action": "change-tenant", "name": "acme", "change": {"state": "suspended"}}
 */
export function createOperator(options: OperatorOptions): Operator {
  const enforcement = new Enforcement(options);
  return async (value, context) => {
    const hasTime = () => context.getRemainingTimeInMillis() > RESERVE_MS;
    try {
      const request = readRequest(value, { presetTenant: DEFAULT_TENANT, nowMs: options.clock.now() });
      return await answer({ options, enforcement, hasTime }, request);
    } catch (error) {
      if (
        error instanceof OperatorRequestError ||
        error instanceof BanEntryError ||
        error instanceof StreamQuestionError ||
        error instanceof UsageQuestionError
      )
        return { error: error.message };
      throw error;
    }
  };
}

/** One invocation of the function. */
interface Invocation {
  readonly options: OperatorOptions;
  readonly enforcement: Enforcement;
  readonly hasTime: () => boolean;
}

async function answer(invocation: Invocation, request: OperatorRequest): Promise<OperatorAnswer> {
  const { options, enforcement, hasTime } = invocation;
  switch (request.action) {
    case 'clients':
      return request.clientId === undefined
        ? await listClients(options.scan, request, hasTime)
        : await oneClient(options.sessions, request.tenant ?? DEFAULT_TENANT, request.clientId);
    case 'kick':
      return { kicked: await enforcement.expel(request, KICK) };
    case 'ban':
      return await ban(invocation, request.ban);
    case 'unban':
      return { unbanned: await options.bans.remove(request.ban) };
    case 'bans':
      return { bans: bansFor(await options.bans.all(), request.tenant).map(described) };
    case 'members':
      return await listMembers(options.presence, request);
    case 'streams':
    case 'stream-messages':
      return await answerOfStreams(options.streams, options.clock, request);
    case 'usage':
      return await answerOfUsage(options.usage, request.question);
    case 'users':
    case 'add-user':
    case 'set-password':
    case 'remove-user':
      return await answerOfUsers(invocation, request);
    case 'tenants':
    case 'tenant':
    case 'create-tenant':
    case 'change-tenant':
    case 'remove-tenant':
      return await answerOfTenants(tenantsOptions(invocation), request);
  }
}

async function answerOfUsers(
  { options: { users }, enforcement, hasTime }: Invocation,
  request: UsersRequest,
): Promise<OperatorAnswer> {
  switch (request.action) {
    case 'users':
      return await listUsers(users, request);
    case 'add-user':
      return { added: await users.add(request.tenant, request.user.name, JSON.stringify(request.user)) };
    case 'set-password':
      return { changed: await setPassword(users, request) };
    case 'remove-user': {
      const { tenant, name } = request;
      const removed = await users.remove(tenant, name);
      const isMeant = ({ identity }: { readonly identity: Identity }) => isOfUser(identity, tenant, name);
      return { removed, ...(await enforcement.search(isMeant, REMOVED, hasTime)) };
    }
  }
}

function tenantsOptions(invocation: Invocation): TenantsOptions {
  const { options, enforcement, hasTime } = invocation;
  const { tenants, bans, users, retained, clock, environment } = options;
  const { messageClock } = environment;
  return {
    ...{ tenants, bans, users, retained, messageClock, clock, enforcement, hasTime },
    ban: async (wanted) => await banAll(invocation, wanted),
  };
}

async function ban(invocation: Invocation, wanted: Ban): Promise<OperatorAnswer> {
  const ended = await banAll(invocation, wanted);
  return 'error' in ended ? ended : { ban: described(wanted), ...ended };
}

/** Bans first: from then on each end is final, except at processes that have not read the list yet. */
async function banAll(
  { options: { bans, sleep, log }, enforcement, hasTime }: Invocation,
  wanted: Ban,
): Promise<Enforced | { readonly error: string }> {
  if (!(await bans.add(wanted)))
    return { error: `The list is full: it has ${BANS_MAX} bans, or 200 KB. Take some back.` };
  log.info('banned', { ...wanted });
  const first = await enforcement.of(wanted, hasTime);
  await sleep(LIST_IN_FORCE_MS);
  if (!hasTime()) return { ...first, isComplete: false };
  const second = await enforcement.of(wanted, hasTime);
  return { expelled: first.expelled + second.expelled, isComplete: second.isComplete };
}

/** An address is banned for every tenant [SEC-TENANT-5]. */
function bansFor(bans: readonly Ban[], tenant: string | undefined): readonly Ban[] {
  return bans.filter(
    (each) =>
      !isSuspension(each) && (tenant === undefined || each.tenant === tenant || each.as === 'peerhost'),
  );
}

function described(each: Ban): OperatorBan {
  return { ...banEntryOf(each), tenant: each.tenant };
}
