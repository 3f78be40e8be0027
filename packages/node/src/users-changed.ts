import type { Broker, Expulsion, Log, SessionRecord } from '@apus/broker';
import type { UserLookup, UsersOwner } from '@apus/identity';
import { ReasonCode } from '@apus/mqtt';
import type { LocalStores } from './stores.ts';

/** A user was removed from the file. */
const REMOVED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: 'this user is not known here any more',
  endsSession: true,
  publishesWill: false,
};

export interface UsersChangedContext extends UsersOwner {
  readonly users: UserLookup;
  readonly sessions: LocalStores['sessions'];
  readonly broker: Broker;
  readonly log: Log;
}

/**
 * Users were added, removed or given other rules. Ends, at both doors, subscriptions that are no longer allowed, and
 * the sessions of removed users [SEC-RULES-6]. Other sessions are checked when they are resumed.
 */
export async function usersChanged(context: UsersChangedContext, names: readonly string[]): Promise<void> {
  const { sessions, log } = context;
  log.info('users-changed', { count: names.length, names });
  const changed = new Set(names);
  // A copy of the list: sessions end meanwhile.
  const concerned = [...sessions.all()].filter(({ identity }) => isUser(context, identity, changed));
  for (const record of concerned) {
    try {
      await applyTo(context, record);
    } catch (error) {
      log.error('users-change-failed', { clientId: record.session.clientId, error: String(error) });
    }
  }
}

/** An identity with rules of its own, as from a token, keeps to them. */
function isUser(
  owner: UsersOwner,
  { tenant, name, rules, source = owner.source }: SessionRecord['identity'],
  names: ReadonlySet<string>,
): boolean {
  return tenant === owner.tenant && source === owner.source && rules === undefined && names.has(name);
}

async function applyTo(
  { users, broker }: UsersChangedContext,
  { session, identity }: SessionRecord,
): Promise<void> {
  if (users.get(identity.name) === undefined) await broker.expel(session.tenant, session.clientId, REMOVED);
  else await broker.recheck(session, identity);
}
