import { readFileSync } from 'node:fs';
import { parseQuotas, type Quotas, type Rule } from '@apus/broker';
import { ConfigurationError } from './configuration-error.ts';
import { type PasswordHash, parsePasswordHash } from './password-hash.ts';
import { readClientIds } from './read-client-ids.ts';
import { readRules } from './rules/read-rules.ts';

/** Characters of a name. Every line of the log has it, and each session stores it. */
export const USER_NAME_LENGTH_MAX = 1_024;

/** A user that may connect, with its rules. */
export interface User {
  readonly name: string;
  readonly password: PasswordHash;
  readonly rules: readonly Rule[];
  /** Patterns of the client identifiers that it may use; see `Identity.clientIds`. */
  readonly clientIds?: readonly string[];
  /** Quotas that differ from those of every identity of this broker. */
  readonly quotas?: Partial<Quotas>;
}

/** A user in a users file, or in the table of a deployment. `parseUsers` reports the errors of one. */
export interface UserEntry {
  readonly name: string;
  /** `scrypt:…`, made by `hashPassword`. */
  readonly password: string;
  readonly publish?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly clientIds?: readonly string[];
  readonly quotas?: Partial<Quotas>;
}

/** Users by name. */
export type Users = ReadonlyMap<string, User>;

/** The source of users: `Users`, or a file that is read again when it changes. */
export type UserLookup = Pick<Users, 'get'>;

/** Unknown fields are refused: a misspelt one may have been meant to restrict. */
const FIELDS: readonly string[] = [
  'name',
  'password',
  'publish',
  'subscribe',
  'rules',
  'clientIds',
  'quotas',
];

const EXAMPLE = '{"users": [{"name": "ada", "password": "scrypt:…", "publish": ["#"], "subscribe": ["#"]}]}';

/** @throws {ConfigurationError} with the error in the file, and its place */
export function readUsersFile(path: string): Users {
  return parseUsers(readText(path), path);
}

export function parseUsers(text: string, path: string): Users {
  const users = fieldOf(parseJson(text, path), 'users');
  if (!Array.isArray(users)) throw new ConfigurationError(`${path} should look like ${EXAMPLE}`);
  const byName = new Map<string, User>();
  for (const [index, entry] of users.entries()) {
    const user = parseUser(entry, `${path}: users[${index}]`);
    if (byName.has(user.name))
      throw new ConfigurationError(`${path}: there are two users named "${user.name}".`);
    byName.set(user.name, user);
  }
  return byName;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`The users file cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigurationError(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function parseUser(entry: unknown, where: string): User {
  const unknown = Object.keys(entry ?? {}).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw new ConfigurationError(`${where} has no field "${unknown}": it has ${FIELDS.join(', ')}.`);
  const name = fieldOf(entry, 'name');
  if (typeof name !== 'string' || name === '' || name.length > USER_NAME_LENGTH_MAX)
    throw new ConfigurationError(
      `${where}.name has to be a string with 1 to ${USER_NAME_LENGTH_MAX} characters.`,
    );
  const password = fieldOf(entry, 'password');
  const hash = typeof password === 'string' ? parsePasswordHash(password) : undefined;
  if (hash === undefined) {
    throw new ConfigurationError(
      `${where}.password has to be a hash that begins with "scrypt:". \`apus passwd\` makes one.`,
    );
  }
  return {
    name,
    password: hash,
    rules: parseRules(entry, where),
    ...parseClientIds(entry, where),
    ...parseUserQuotas(entry, where),
  };
}

/** Without `rules` both lists are required, so that neither is forgotten. */
function parseRules(entry: unknown, where: string): readonly Rule[] {
  const rules = fieldOf(entry, 'rules');
  const [publish, subscribe] = [fieldOf(entry, 'publish'), fieldOf(entry, 'subscribe')];
  const missing = publish === undefined ? 'publish' : subscribe === undefined ? 'subscribe' : undefined;
  if (rules === undefined && missing !== undefined) {
    throw new ConfigurationError(
      `${where}.${missing} has to be a list of topic filters: ["#"] allows every topic, [] none.`,
    );
  }
  const read = readRules({ rules, publish, subscribe }, `${where}.`);
  if (typeof read === 'string') throw new ConfigurationError(read);
  return read;
}

function parseClientIds(entry: unknown, where: string): Pick<User, 'clientIds'> {
  const clientIds = fieldOf(entry, 'clientIds');
  if (clientIds === undefined) return {};
  const read = readClientIds(clientIds, `${where}.clientIds`);
  if (typeof read === 'string') throw new ConfigurationError(read);
  return { clientIds: read };
}

function parseUserQuotas(entry: unknown, where: string): Pick<User, 'quotas'> {
  const quotas = fieldOf(entry, 'quotas');
  if (quotas === undefined) return {};
  const read = parseQuotas(quotas);
  if (typeof read === 'string') throw new ConfigurationError(`${where}.quotas: ${read}`);
  return { quotas: read };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
