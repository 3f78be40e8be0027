import { readIfThere, replaceFile } from './replace-file.ts';
import { parseUsers, type UserEntry } from './users-file.ts';

/** Undefined: there is nothing to change. @throws {Error} if the change is refused */
export type UsersChange = (users: readonly UserEntry[]) => readonly UserEntry[] | undefined;

/**
 * Changes a users file, which a reader finds as it was or as it is, and never without its end. It is read with the code
 * of the node, so that no change leaves a file that the node would refuse. False: there was nothing to change.
 *
 * @throws {ConfigurationError} with the error in the file, or in what would be written
 */
export function changeUsersFile(path: string, change: UsersChange): boolean {
  if (change(entriesIn(readIfThere(path), path)) === undefined) return false;
  let isChanged = true;
  replaceFile(path, (now) => {
    const users = change(entriesIn(now, path));
    isChanged = users !== undefined;
    return users === undefined ? (now ?? '') : written(users, path);
  });
  return isChanged;
}

/** The users of a file with all their fields. Undefined: there is no such file. */
export function usersInFile(path: string): readonly UserEntry[] | undefined {
  const text = readIfThere(path);
  return text === undefined ? undefined : entriesIn(text, path);
}

function written(users: readonly UserEntry[], path: string): string {
  const text = `${JSON.stringify({ users }, undefined, 2)}\n`;
  parseUsers(text, path);
  return text;
}

function entriesIn(text: string | undefined, path: string): readonly UserEntry[] {
  if (text === undefined) return [];
  parseUsers(text, path);
  return (JSON.parse(text) as { users: UserEntry[] }).users;
}
