import type { UserEntry } from '@apus/identity';
import { NOTES_MAX } from './source.ts';

/** Something of the other broker that Apus does not get, or gets in another way. */
export interface Note {
  /** `FILE:LINE`, or the name of a user. */
  readonly where: string;
  readonly why: string;
}

/** The results of an import. */
export interface Imported {
  /** Undefined: the other broker's files name no users. */
  readonly users?: readonly UserEntry[];
  /** Rules for `apus serve --rules`. */
  readonly rules?: readonly object[];
  /** Flags of `apus serve`, each as it is typed. */
  readonly flags: readonly string[];
  readonly notes: readonly Note[];
}

/** The files of an import, by their names. */
export function filesOf({ users, rules, flags }: Imported): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  if (users !== undefined) files.set('users.json', json({ users }));
  if (rules !== undefined) files.set('rules.json', json({ rules }));
  if (flags.length > 0) files.set('serve.txt', `${commandOf(flags)}\n`);
  return files;
}

/** The command in one line for a shell. */
function commandOf(flags: readonly string[]): string {
  const words = flags.map((flag) =>
    /^[\w@%+=:,./[\]-]+$/.test(flag) ? flag : `'${flag.replaceAll("'", "'\\''")}'`,
  );
  return ['apus serve', ...words].join(' ');
}

/** Lines about what was made and what was left out, each with its reason. */
export function reportOf({ users, rules, notes }: Imported): readonly string[] {
  const made = [
    users !== undefined && `${users.length} users`,
    rules !== undefined && `${rules.length} rules`,
  ].filter((part) => part !== false);
  const lines = made.length === 0 ? [] : [`Made: ${made.join(', ')}.`];
  if (notes.length === 0) return [...lines, 'Nothing was left out.'];
  lines.push(`Left out or different (${notes.length}):`);
  lines.push(...notes.slice(0, NOTES_MAX).map(({ where, why }) => `  ${where}: ${why}`));
  if (notes.length > NOTES_MAX) lines.push(`  … and ${notes.length - NOTES_MAX} more.`);
  return lines;
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
