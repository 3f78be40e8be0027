import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError } from '../commands/command.ts';
import { NO_LIMIT, NUMBERS, REASONS, SILENT, secondsOf } from './mosquitto-options.ts';
import type { Note } from './report.ts';
import { type Line, linesOf, readSource } from './source.ts';

/** Files of `include_dir`. */
const INCLUDED_MAX = 100;

/** One listener, with the options below it. */
interface Listener {
  readonly where: string;
  readonly port: string;
  readonly host: string;
  readonly options: Map<string, string>;
}

/** A configuration, with the flags of `apus serve` that say the same. */
export interface MosquittoConfig {
  readonly flags: readonly string[];
  readonly passwordFile: string | undefined;
  readonly aclFile: string | undefined;
  readonly allowsAnonymous: boolean;
}

interface Option extends Line {
  readonly name: string;
  readonly value: string;
}

const OF_A_LISTENER: ReadonlySet<string> = new Set([
  'bind_address',
  'cafile',
  'certfile',
  'crlfile',
  'keyfile',
  'max_connections',
  'protocol',
  'require_certificate',
]);

/** @throws {CommandError} for an option whose value Mosquitto would refuse, and for two files where Apus has one */
export function readMosquittoConfig(path: string, notes: Note[]): MosquittoConfig {
  const global = new Map<string, Option>();
  const listeners: Listener[] = [];
  const flags: string[] = [];
  for (const option of optionsOf(path)) {
    const { name, value, where } = option;
    if (name === 'listener' || name === 'port') listeners.push(listenerOf(option));
    else if (OF_A_LISTENER.has(name)) (listeners.at(-1) ?? first(listeners, where)).options.set(name, value);
    else if (NUMBERS[name] !== undefined) flags.push(...numberFlag(option, notes));
    else if (name === 'persistent_client_expiration') flags.push(...expiryFlag(option));
    else if (REASONS[name] !== undefined) notes.push({ where, why: `${name} is left out: ${REASONS[name]}` });
    else if (KEPT.has(name)) keep(global, option);
    else if (!SILENT.has(name))
      notes.push({ where, why: `${name} is left out: the import does not know it` });
  }
  // Without a listener Mosquitto is open to this machine alone.
  if (listeners.length === 0) first(listeners, path).options.set('bind_address', '127.0.0.1');
  return {
    flags: [
      ...listeners.flatMap((listener) => listenerFlags(listener, path, notes)),
      ...(isTrue(global.get('persistence')) ? dataFlags(global, notes) : []),
      ...unique(flags),
    ],
    passwordFile: pathFrom(global.get('password_file'), path),
    aclFile: pathFrom(global.get('acl_file'), path),
    allowsAnonymous: isTrue(global.get('allow_anonymous')),
  };
}

/** Options that the import itself reads. */
const KEPT: ReadonlySet<string> = new Set([
  'acl_file',
  'allow_anonymous',
  'password_file',
  'per_listener_settings',
  'persistence',
  'persistence_location',
]);

/** The options of a file, and of those in its `include_dir`. */
function optionsOf(path: string, isIncluded = false): readonly Option[] {
  return linesOf(readSource(path), path).flatMap((line) => {
    const [, name = '', value = ''] = /^(\S+)\s*(.*)$/s.exec(line.text) ?? [];
    if (value === '') throw new CommandError(`${line.where}: ${JSON.stringify(name)} has no value.`);
    if (name !== 'include_dir') return [{ ...line, name, value }];
    if (isIncluded) throw new CommandError(`${line.where}: an included file includes no folder.`);
    return includedIn(resolve(dirname(path), value), line).flatMap((file) => optionsOf(file, true));
  });
}

function includedIn(directory: string, { where }: Line): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory)
      .filter((name) => name.endsWith('.conf'))
      .sort();
  } catch (error) {
    throw new CommandError(`${where}: the folder cannot be read: ${(error as Error).message}.`);
  }
  if (names.length > INCLUDED_MAX)
    throw new CommandError(`${where}: it has more than ${INCLUDED_MAX} files.`);
  return names.map((name) => join(directory, name));
}

/** A second file would be for another listener, and Apus has one for all. */
function keep(global: Map<string, Option>, option: Option): void {
  const before = global.get(option.name);
  if (before !== undefined && before.value !== option.value && option.name !== 'per_listener_settings')
    throw new CommandError(
      `${option.where}: ${before.where} has another ${option.name}. Apus has one for all listeners: import each part alone.`,
    );
  global.set(option.name, option);
}

function listenerOf({ name, value, where }: Option): Listener {
  const [port = '', host] = value.split(/\s+/);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new CommandError(`${where}: ${name} has a port from 0 to 65535, not ${JSON.stringify(port)}.`);
  return { where, port, host: host ?? '', options: new Map() };
}

/** Options above all listeners are of the default one. */
function first(listeners: Listener[], where: string): Listener {
  const listener = { where, port: '1883', host: '', options: new Map<string, string>() };
  listeners.push(listener);
  return listener;
}

function listenerFlags(
  { where, port, host, options }: Listener,
  path: string,
  notes: Note[],
): readonly string[] {
  if (port === '0') {
    notes.push({ where, why: 'a socket of Unix is left out: Apus listens at ports' });
    return [];
  }
  const [cert, key] = [options.get('certfile'), options.get('keyfile')];
  if ((cert === undefined) !== (key === undefined))
    throw new CommandError(`${where}: the listener has one of certfile and keyfile, and needs both.`);
  const file = (name: string) => resolve(dirname(path), options.get(name) ?? '');
  const isWebSocket = options.get('protocol') === 'websockets';
  const isTls = cert !== undefined;
  const scheme = `${isWebSocket ? 'ws' : isTls ? 'tls' : 'tcp'}${isWebSocket && isTls ? 's' : ''}`;
  const parameters: string[] = [];
  const flags: string[] = [];
  if (isTls) flags.push('--tls-cert', file('certfile'), '--tls-key', file('keyfile'));
  if (isTls && options.get('require_certificate') === 'true') {
    parameters.push('client-certificate=required');
    if (options.has('cafile')) flags.push('--tls-client-ca', file('cafile'));
    if (options.has('crlfile')) flags.push('--tls-client-crl', file('crlfile'));
  }
  const connections = Number(options.get('max_connections') ?? 0);
  if (connections > 0) parameters.push(`connections-max=${connections}`);
  const address = options.get('bind_address') ?? host;
  const authority = `${address === '' ? '0.0.0.0' : address.includes(':') ? `[${address}]` : address}:${port}`;
  if (isWebSocket) notes.push({ where, why: 'WebSockets are at /mqtt here, and at every path there' });
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return ['--listen', `${scheme}://${authority}${isWebSocket ? '/mqtt' : ''}${query}`, ...flags];
}

function dataFlags(global: ReadonlyMap<string, Option>, notes: Note[]): readonly string[] {
  const { where } = global.get('persistence_location') ?? global.get('persistence') ?? { where: '' };
  notes.push({
    where,
    why: 'mosquitto.db is not read: sessions and retained messages begin anew, in the directory of --data',
  });
  return ['--data', 'apus-data'];
}

function numberFlag({ name, value, where }: Option, notes: Note[]): readonly string[] {
  if (!/^\d{1,12}$/.test(value))
    throw new CommandError(`${where}: ${name} is a whole number, not ${JSON.stringify(value)}.`);
  if (Number(value) === 0 && NO_LIMIT.has(name)) {
    notes.push({ where, why: `${name} 0 means no limit there; here --${NUMBERS[name]} keeps its default` });
    return [];
  }
  // Mosquitto drops the message that comes.
  const more = name === 'max_queued_messages' ? ['--queue-when-full', 'drop-newest'] : [];
  return [`--${NUMBERS[name]}`, String(Number(value)), ...more];
}

function expiryFlag({ value, where }: Option): readonly string[] {
  const seconds = secondsOf(value);
  if (seconds === undefined)
    throw new CommandError(`${where}: persistent_client_expiration is as 14d, not ${JSON.stringify(value)}.`);
  return ['--session-expiry-seconds-max', String(seconds)];
}

/** The last of two flags with one name counts, as there. */
function unique(flags: readonly string[]): readonly string[] {
  const values = new Map<string, string>();
  for (let index = 0; index < flags.length; index += 2)
    values.set(flags[index] ?? '', flags[index + 1] ?? '');
  return [...values].flat();
}

function pathFrom(option: Option | undefined, path: string): string | undefined {
  return option === undefined ? undefined : resolve(dirname(path), option.value);
}

function isTrue(option: Option | undefined): boolean {
  if (option === undefined || option.value === 'false') return false;
  if (option.value === 'true') return true;
  throw new CommandError(
    `${option.where}: ${option.name} is true or false, not ${JSON.stringify(option.value)}.`,
  );
}
