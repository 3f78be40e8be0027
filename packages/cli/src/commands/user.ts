import { parseQuotas } from '@apus/broker';
import type { UserEntry } from '@apus/identity';
import type { ListedUser, UserStore } from '../operate/user-store.ts';
import { UsersFileStore } from '../operate/users-file-store.ts';
import { UsersTableStore } from '../operate/users-table-store.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { readNewPassword } from './new-password.ts';
import { deploymentApiFrom, operating, STACK_FLAGS } from './operate-flags.ts';
import { printLine } from './print.ts';
import { RULE_FLAGS, rulesFrom } from './rule-flags.ts';

const USER: Flags = {
  ...RULE_FLAGS,
  quota: {
    value: 'NAME=COUNT',
    multiple: true,
    help: 'A quota that differs from those of every identity: connectionsMax=1. 0 stands for any number.',
  },
  json: {
    value: 'JSON',
    help: 'All of these at once, as in a users file: {"publish": ["%u/#"], "subscribe": [], "quotas": {"connectionsMax": 1}}.',
  },
};

const WHERE: Flags = {
  users: { value: 'FILE', help: 'The users file of a node: that of `apus serve --users` or `--identity`.' },
  ...STACK_FLAGS,
};

const VERBS: Readonly<Record<string, (values: Values, store: UserStore, name: string) => Promise<void>>> = {
  async add(values, store, name) {
    const given = entryFrom(values);
    const password = await readNewPassword();
    if (!(await store.add({ name, password, ...given })))
      throw new CommandError(
        `There is a user "${name}" already: \`apus user passwd\` changes the password, \`apus user remove\` takes it away.`,
      );
    printLine(`"${name}" may connect. ${allowanceOf(given)}`);
    console.log(store.effect);
  },
  async passwd(_values, store, name) {
    const password = await readNewPassword();
    if (!(await store.setPassword(name, password))) throw unknown(name);
    printLine(`"${name}" has another password. ${store.effect}`);
  },
  async remove(_values, store, name) {
    if (!(await store.remove(name))) throw unknown(name);
    printLine(`"${name}" is gone. ${store.effect}`);
  },
  async list(_values, store) {
    for await (const user of store.list()) printLine(lineOf(user));
  },
};

export const user: Command = {
  name: 'user',
  summary: 'Adds, lists and removes users and their passwords.',
  usage:
    '(add | passwd | remove) NAME (--users FILE | --stack NAME)\n       apus user list (--users FILE | --stack NAME)',
  description: [
    'The command asks for the password, or reads the first line of standard input, and stores its hash.',
    '',
    "  apus user add ada --publish '%u/#' --subscribe '%u/#' --subscribe news/+ --users users.json",
    '  apus user passwd ada --users users.json',
    '',
    'The users of a deployment stand in its table, where its configuration has {"users": {"table": true}} and "mqttPassword".',
    '',
    'In a topic filter %u is the user name, and %c a client identifier that only this user may have (docs/rules.md).',
  ].join('\n'),
  flags: { 'The user, for `add`': USER, Where: WHERE },
  async run(values) {
    const [verb = '', name, ...others] = values.positionals;
    const act = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
    const isNamed = verb !== 'list';
    if (act === undefined || others.length > 0 || (name !== undefined) !== isNamed)
      throw new UsageError('It is `apus user add NAME`, `passwd NAME`, `remove NAME` or `apus user list`.');
    if (verb !== 'add') values.refuse(USER, 'is for `apus user add`.');
    const store = storeFrom(values);
    await operating(() => act(values, store, name ?? ''));
    return 0;
  },
};

function storeFrom(values: Values): UserStore {
  const path = values.text('users');
  const deployment = deploymentApiFrom(values);
  if ((path === undefined) === (deployment === undefined))
    throw new UsageError('`apus user` takes --users FILE, for a node, or --stack NAME, for a deployment.');
  return deployment === undefined ? new UsersFileStore(path ?? '') : new UsersTableStore(deployment);
}

/** @throws {UsageError} */
function entryFrom(values: Values): Omit<UserEntry, 'name' | 'password'> {
  const json = values.text('json');
  if (json === undefined) return { ...rulesFrom(values), ...quotasFrom(values) };
  if (Object.keys(USER).some((flag) => flag !== 'json' && values.isSet(flag)))
    throw new UsageError('--json says all of the user: it goes without the flags beside it.');
  return parseEntry(json);
}

function parseEntry(json: string): Omit<UserEntry, 'name' | 'password'> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--json takes JSON: ${(error as Error).message}.`);
  }
  if (typeof value !== 'object' || value === null || 'name' in value || 'password' in value)
    throw new UsageError('--json takes an object without "name" and "password".');
  return value as Omit<UserEntry, 'name' | 'password'>;
}

function quotasFrom(values: Values): Pick<UserEntry, 'quotas'> {
  const given = values.all('quota').map((text) => /^(\w+)=(\d+)$/.exec(text) ?? badQuota(text));
  if (given.length === 0) return {};
  const quotas = Object.fromEntries(given.map(([, name = '', count]) => [name, Number(count)]));
  const read = parseQuotas(quotas);
  if (typeof read === 'string') throw new UsageError(`--quota: ${read}`);
  return { quotas: read };
}

function badQuota(text: string): never {
  throw new UsageError(`--quota takes a name and a number as connectionsMax=1, not "${text}".`);
}

function unknown(name: string): CommandError {
  return new CommandError(`There is no user "${name}".`);
}

/** A user without permissions often means that a flag was forgotten. */
function allowanceOf({
  rules = [],
  publish = [],
  subscribe = [],
}: Omit<UserEntry, 'name' | 'password'>): string {
  if (rules.length + publish.length + subscribe.length === 0)
    return 'It may publish and subscribe to nothing: --publish and --subscribe allow topics.';
  const parts = [
    rules.length > 0 && `${rules.length} rules`,
    publish.length > 0 && `publish ${publish.join(' ')}`,
    subscribe.length > 0 && `subscribe ${subscribe.join(' ')}`,
  ];
  return `It has: ${parts.filter((part) => part !== false).join('; ')}.`;
}

function lineOf(listed: ListedUser): string {
  const { name, ...rest } = listed;
  return `${name}  ${JSON.stringify(rest)}`;
}
