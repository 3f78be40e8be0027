import { ApiProblem, type UserTable } from '@apus/api';
import { type OwnedUsers, sliceOf } from '@apus/door';
import { parseUsers, type User, type UserEntry, type UserLookup, type UsersOwner } from '@apus/identity';
import { USERS_BYTES_MAX, USERS_MAX } from './limits.ts';
import { HubKind } from './storage/layout.ts';
import type { Records } from './storage/records.ts';

const NO_USERS =
  'This hub has no users: name {"users": {"table": true}} among the authenticators of its identities.';

const NOBODY = '{"users": []}';

/** For the Worker in front, which checks no password. */
export const DEPLOYED_USERS: Pick<HubUsers, 'usersOf'> = {
  usersOf: (_, text = NOBODY, path = '') => parseUsers(text, path),
};

/** Users that are deployed with the hub. */
interface DeployedUsers extends UsersOwner {
  /** As a users file has them. */
  readonly text: string;
  readonly users: UserLookup;
}

/**
 * The users that operators have added to a hub, a row for each, beside those that are deployed with it. The row of a user is
 * read when somebody asks for it: a wake-up reads none.
 */
export class HubUsers {
  readonly #records: Records;
  readonly #limits: { readonly usersMax: number; readonly bytesMax: number };
  readonly #deployed: DeployedUsers[] = [];
  /** By the key of the row. */
  readonly #known = new Map<string, User>();
  /** Of all rows. Undefined: they have not been counted. */
  #held: { readonly count: number; readonly bytes: number } | undefined;

  constructor(records: Records, limits = { usersMax: USERS_MAX, bytesMax: USERS_BYTES_MAX }) {
    this.#records = records;
    this.#limits = limits;
  }

  /** The users of an authenticator. Those of rows belong to the first one of their tenant. */
  usersOf(owner: UsersOwner, text = NOBODY, path = ''): UserLookup {
    const users = parseUsers(text, path);
    const isFirst = this.#of(owner.tenant).length === 0;
    this.#deployed.push({ ...owner, text, users });
    if (!isFirst) return users;
    return { get: (name) => users.get(name) ?? this.#user(owner.tenant, name) };
  }

  /**
   * @param changed applies a change to the sessions of these users
   * @throws {ApiProblem} where no authenticator has users
   */
  table(changed: (owned: OwnedUsers, names: readonly string[]) => Promise<void>): UserTable {
    if (this.#deployed.length === 0) throw new ApiProblem('NOT_SUPPORTED', NO_USERS);
    const replace = async (tenant: string, name: string, entry: UserEntry | undefined) => {
      this.#write(tenant, name, entry);
      const [first] = this.#of(tenant);
      const users = { get: (one: string) => this.#user(tenant, one) };
      if (first !== undefined) await changed({ tenant, source: first.source, users }, [name]);
    };
    return {
      part: (tenant, slice) => sliceOf(this.#all(tenant), slice),
      add: async (tenant, user) => {
        if (this.#of(tenant).length === 0)
          throw new ApiProblem('NOT_SUPPORTED', `No users of this hub are for the tenant ${tenant}.`);
        if (this.#isDeployed(tenant, user.name) || this.#user(tenant, user.name) !== undefined) return false;
        await replace(tenant, user.name, user);
        return true;
      },
      change: async (tenant, name, change) => {
        const entry = this.#entry(tenant, name);
        if (entry !== undefined) await replace(tenant, name, change(entry));
        return entry !== undefined;
      },
      remove: async (tenant, name) => {
        const isRemoved = this.#entry(tenant, name) !== undefined;
        if (isRemoved) await replace(tenant, name, undefined);
        return { isRemoved };
      },
    };
  }

  #of(tenant: string): readonly DeployedUsers[] {
    return this.#deployed.filter((each) => each.tenant === tenant);
  }

  #isDeployed(tenant: string, name: string): boolean {
    return this.#of(tenant).some(({ users }) => users.get(name) !== undefined);
  }

  *#all(tenant: string): Generator<UserEntry> {
    for (const { text } of this.#of(tenant)) yield* (JSON.parse(text) as { users: UserEntry[] }).users;
    for (const [key, value] of this.#records.texts(HubKind.User))
      if (tenantIn(key) === tenant) yield JSON.parse(value);
  }

  #user(tenant: string, name: string): User | undefined {
    const key = keyOf(tenant, name);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const row = this.#records.text(key);
    if (row === undefined) return undefined;
    const user = parseUsers(`{"users": [${row}]}`, `the user ${JSON.stringify(name)}`).get(name);
    if (user !== undefined) this.#known.set(key, user);
    return user;
  }

  /** @throws {ApiProblem} for a user that is deployed */
  #entry(tenant: string, name: string): UserEntry | undefined {
    if (this.#isDeployed(tenant, name)) {
      const message = `${JSON.stringify(name)} is deployed with the hub: change it there, and deploy again.`;
      throw new ApiProblem('BAD_REQUEST', message);
    }
    const row = this.#records.text(keyOf(tenant, name));
    return row === undefined ? undefined : JSON.parse(row);
  }

  /** Commits at once: what follows asks for the user. @throws {ApiProblem} */
  #write(tenant: string, name: string, entry: UserEntry | undefined): void {
    const key = keyOf(tenant, name);
    const value = entry && Buffer.from(JSON.stringify(entry));
    const before = this.#records.get(key);
    const held = this.#held ?? this.#counted();
    const after = {
      count: held.count + Number(value !== undefined) - Number(before !== undefined),
      bytes: held.bytes + (value?.length ?? 0) - (before?.length ?? 0),
    };
    const { usersMax, bytesMax } = this.#limits;
    if (value !== undefined && (after.count > usersMax || after.bytes > bytesMax)) {
      const message = `A hub keeps at most ${usersMax} users, of ${bytesMax} bytes.`;
      throw new ApiProblem('TOO_MANY', message);
    }
    this.#records.commit(new Map([[key, value]]));
    this.#known.delete(key);
    this.#held = after;
  }

  #counted(): { readonly count: number; readonly bytes: number } {
    let [count, bytes] = [0, 0];
    for (const [, value] of this.#records.scan(HubKind.User)) {
      count += 1;
      bytes += value.length;
    }
    return { count, bytes };
  }
}

function keyOf(tenant: string, name: string): string {
  return HubKind.User + JSON.stringify([tenant, name]);
}

function tenantIn(key: string): string {
  const [tenant] = JSON.parse(key.slice(HubKind.User.length)) as [string, string];
  return tenant;
}
