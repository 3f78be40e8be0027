import { setImmediate } from 'node:timers/promises';
import {
  type Authorizer,
  type Broker,
  type ChangedRights,
  type Clock,
  type Delivery,
  type Expulsion,
  type Identity,
  type Log,
  type SessionRecord,
  Turn,
} from '@apus/broker';
import type { UserLookup, UsersOwner } from '@apus/identity';
import { ReasonCode } from '@apus/mqtt';
import type { ListedStores } from './api/sources.ts';

/** A user was removed. */
const REMOVED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: 'this user is not known here any more',
  endsSession: true,
  publishesWill: false,
};

/** Users of one source of identities. */
export interface OwnedUsers extends UsersOwner {
  readonly users: UserLookup;
}

type Sessions = Pick<ListedStores['sessions'], 'all' | 'get'>;

/**
 * Changes of users, in files or in a hub. Ends, at both doors, subscriptions that are no longer allowed, and the sessions of removed
 * users. It does so in turns [SEC-WORK-6], and until the last one the new rules are asked for each message that leaves
 * for a session of a changed user [SEC-RULES-6]. Other sessions are checked when they are resumed.
 */
export class UsersChanges implements ChangedRights {
  readonly #sessions: Sessions;
  readonly #authorizer: Authorizer;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Whether a change that is under way concerns an identity. */
  readonly #underWay = new Set<(identity: Identity) => boolean>();

  constructor(sessions: Sessions, authorizer: Authorizer, clock: Clock, log: Log) {
    this.#sessions = sessions;
    this.#authorizer = authorizer;
    this.#clock = clock;
    this.#log = log;
  }

  get forbids(): ChangedRights['forbids'] {
    return this.#underWay.size === 0 ? undefined : (delivery, topic) => this.#forbids(delivery, topic);
  }

  /** Users were added, removed or given other rules. */
  async apply(broker: Broker, owned: OwnedUsers, names: readonly string[]): Promise<void> {
    const log = this.#log;
    log.info('users-changed', { count: names.length, names });
    const changed = new Set(names);
    const concerns = (identity: Identity) => isUser(owned, identity, changed);
    this.#underWay.add(concerns);
    let turn = new Turn(this.#clock);
    for (const record of this.#sessions.all()) {
      try {
        if (concerns(record.identity)) await applyTo(broker, owned, record);
      } catch (error) {
        log.error('users-change-failed', { clientId: record.session.clientId, error: String(error) });
      }
      if (!turn.isOver) continue;
      await setImmediate();
      turn = new Turn(this.#clock);
    }
    this.#underWay.delete(concerns);
  }

  #forbids({ session: { tenant, clientId }, share }: Delivery, topic: string): boolean {
    const identity = this.#sessions.get(tenant, clientId)?.identity;
    if (identity === undefined || ![...this.#underWay].some((concerns) => concerns(identity))) return false;
    const terms = { qos: undefined, shareGroup: share?.shareGroup };
    // The rules of users answer at once.
    return this.#authorizer.maySubscribe(identity, clientId, topic, terms) !== true;
  }
}

/** An identity with rules of its own, as from a token, keeps to them. */
function isUser(
  owner: UsersOwner,
  { tenant, name, rules, source = owner.source }: Identity,
  names: ReadonlySet<string>,
): boolean {
  return tenant === owner.tenant && source === owner.source && rules === undefined && names.has(name);
}

async function applyTo(
  broker: Broker,
  { users }: OwnedUsers,
  { session, identity }: SessionRecord,
): Promise<void> {
  if (users.get(identity.name) === undefined) await broker.expel(session.tenant, session.clientId, REMOVED);
  else await broker.recheck(session, identity);
}
