import { ApiProblem, type UserTable } from '@apus/api';
import { sliceOf } from '@apus/door';
import { ConfigurationError, type UserEntry } from '@apus/identity';
import type { UsersFile } from '../auth/access.ts';

/** The users of this node's files. A change is written to the file, and in force when it is answered. */
export function usersOf(files: readonly UsersFile[]): UserTable {
  if (files.length === 0)
    throw new ApiProblem('NOT_SUPPORTED', 'This node has no users file: start it with --users FILE.');
  const filesOf = (tenant: string) => files.filter((each) => each.tenant === tenant);
  /** False: no file has this user. */
  const change = async (
    tenant: string,
    name: string,
    changeOne: (users: readonly UserEntry[]) => Changed,
  ) => {
    for (const { users } of filesOf(tenant)) {
      const changed = await written(() =>
        users.change((all) => (all.some((each) => each.name === name) ? changeOne(all) : undefined)),
      );
      if (changed) return true;
    }
    return false;
  };
  return {
    part: (tenant, slice) =>
      sliceOf(
        filesOf(tenant).flatMap(({ users }) => users.entries()),
        slice,
      ),
    async add(tenant, user) {
      const [first] = filesOf(tenant);
      if (first === undefined)
        throw new ApiProblem('NOT_SUPPORTED', `No users file of this node is for the tenant ${tenant}.`);
      if (filesOf(tenant).some(({ users }) => users.get(user.name) !== undefined)) return false;
      return await written(() =>
        first.users.change((all) =>
          all.some(({ name }) => name === user.name) ? undefined : [...all, user],
        ),
      );
    },
    change: (tenant, name, changeUser) =>
      change(tenant, name, (all) => all.map((each) => (each.name === name ? changeUser(each) : each))),
    async remove(tenant, name) {
      return { isRemoved: await change(tenant, name, (all) => withoutUser(all, name)) };
    },
  };
}

type Changed = readonly UserEntry[] | undefined;

function withoutUser(all: readonly UserEntry[], name: string): Changed {
  const others = all.filter((each) => each.name !== name);
  if (others.length > 0) return others;
  const message = `${JSON.stringify(name)} is the last user of its file: without one no client could connect. Add another one first.`;
  throw new ApiProblem('BAD_REQUEST', message);
}

/** @throws {ApiProblem} if the file cannot be written, or would be wrong */
async function written(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiProblem) throw error;
    const { message } = error as Error;
    if (error instanceof ConfigurationError) throw new ApiProblem('BAD_REQUEST', message);
    throw new ApiProblem('SERVICE_UNAVAILABLE', `The users file cannot be written: ${message}`);
  }
}
