import { readFileSync } from 'node:fs';
import { validateTopicFilter } from '@apus/mqtt';
import { StartError } from '../start-error.ts';
import { type PasswordHash, parsePasswordHash } from './password-hash.ts';

/** One who may connect, and what they may do. */
export interface User {
  readonly name: string;
  readonly password: PasswordHash;
  /** Topic filters; `%c` in them is the client identifier, `%u` the user name. */
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Users by their names. */
export type Users = ReadonlyMap<string, User>;

const EXAMPLE = '{"users": [{"name": "ada", "password": "scrypt:…", "publish": ["#"], "subscribe": ["#"]}]}';

/** @throws {StartError} with what is wrong in the file, and where. */
export function readUsersFile(path: string): Users {
  return parseUsers(readText(path), path);
}

export function parseUsers(text: string, path: string): Users {
  const users = fieldOf(parseJson(text, path), 'users');
  if (!Array.isArray(users)) throw new StartError(`${path} should look like ${EXAMPLE}`);
  const byName = new Map<string, User>();
  for (const [index, entry] of users.entries()) {
    const user = parseUser(entry, `${path}: users[${index}]`);
    if (byName.has(user.name)) throw new StartError(`${path}: there are two users named "${user.name}".`);
    byName.set(user.name, user);
  }
  return byName;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartError(`The users file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartError(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function parseUser(entry: unknown, where: string): User {
  const name = fieldOf(entry, 'name');
  if (typeof name !== 'string' || name === '')
    throw new StartError(`${where}.name has to be a string with at least one character.`);
  const password = fieldOf(entry, 'password');
  const hash = typeof password === 'string' ? parsePasswordHash(password) : undefined;
  if (hash === undefined) {
    throw new StartError(
      `${where}.password has to be a hash that begins with "scrypt:". \`apus passwd\` makes one.`,
    );
  }
  return {
    name,
    password: hash,
    publish: parseFilters(entry, 'publish', where),
    subscribe: parseFilters(entry, 'subscribe', where),
  };
}

function parseFilters(entry: unknown, field: 'publish' | 'subscribe', where: string): readonly string[] {
  const filters = fieldOf(entry, field);
  if (!Array.isArray(filters)) {
    throw new StartError(
      `${where}.${field} has to be a list of topic filters: ["#"] allows every topic, [] none.`,
    );
  }
  for (const filter of filters) {
    const problem =
      typeof filter === 'string' ? validateTopicFilter(filter)?.reason : 'It has to be a string.';
    if (problem !== undefined)
      throw new StartError(`${where}.${field}: ${JSON.stringify(filter)}: ${problem}`);
  }
  return filters as readonly string[];
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
