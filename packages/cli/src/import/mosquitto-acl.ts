import type { Rule } from '@apus/broker';
import { CommandError } from '../commands/command.ts';
import { filterFor } from './permissions.ts';
import type { Note } from './report.ts';
import { type Line, linesOf, readSource } from './source.ts';

export interface AclLine {
  readonly effect: Rule['effect'];
  readonly action: Rule['action'];
  readonly filter: string;
}

/** An ACL file of Mosquitto. Each list has its denies first, as Mosquitto asks them. */
export interface MosquittoAcl {
  readonly users: ReadonlyMap<string, readonly AclLine[]>;
  readonly patterns: readonly AclLine[];
}

const ACTIONS: ReadonlyMap<string, Rule['action']> = new Map([
  ['read', 'subscribe'],
  ['write', 'publish'],
  ['readwrite', 'all'],
  ['deny', 'all'],
]);

const PLACEHOLDERS = /%u|%c/g;

/** @throws {CommandError} for a line that Mosquitto would refuse */
export function readMosquittoAcl(path: string, notes: Note[]): MosquittoAcl {
  const users = new Map<string, AclLine[]>();
  const patterns: AclLine[] = [];
  let user: string | undefined;
  for (const line of linesOf(readSource(path), path)) {
    const [, keyword = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line.text) ?? [];
    if (rest === '') throw new CommandError(`${line.where}: nothing follows ${JSON.stringify(keyword)}.`);
    if (keyword === 'user') {
      user = rest;
      if (!users.has(user)) users.set(user, []);
    } else if (keyword === 'pattern') {
      patterns.push(...aclLines(line, rest, PLACEHOLDERS, notes));
    } else if (keyword !== 'topic') {
      throw new CommandError(
        `${line.where}: a line begins with user, topic or pattern, not ${JSON.stringify(keyword)}.`,
      );
    } else if (user === undefined) {
      notes.push({
        where: line.where,
        why: 'it is for clients without a name, which a broker with users refuses here',
      });
    } else {
      users.get(user)?.push(...aclLines(line, rest, undefined, notes));
    }
  }
  return {
    users: new Map([...users].map(([name, lines]) => [name, deniesFirst(lines)])),
    patterns: deniesFirst(patterns),
  };
}

function aclLines(
  { where }: Line,
  rest: string,
  placeholders: RegExp | undefined,
  notes: Note[],
): readonly AclLine[] {
  const [, word = '', behind = ''] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
  const action = behind === '' ? 'all' : ACTIONS.get(word);
  if (action === undefined)
    throw new CommandError(
      `${where}: before a topic stands read, write, readwrite, deny or nothing, not ${JSON.stringify(word)}.`,
    );
  // A word alone is a topic, also `read`.
  const topic = behind === '' ? word : behind;
  const effect = word === 'deny' && behind !== '' ? 'deny' : 'allow';
  const { filter, problem } = filterFor(effect, topic, placeholders);
  if (problem !== undefined)
    notes.push({
      where,
      why: filter === undefined ? `left out: ${problem}` : `it denies ${filter}: ${problem}`,
    });
  else if (placeholders !== undefined && topic.includes('%c') && effect === 'allow')
    notes.push({
      where,
      why: '%c holds here only for an identifier that no other user may choose: NAME, or NAME-… (docs/rules.md)',
    });
  return filter === undefined ? [] : [{ effect, action, filter }];
}

function deniesFirst(lines: readonly AclLine[]): readonly AclLine[] {
  return [
    ...lines.filter(({ effect }) => effect === 'deny'),
    ...lines.filter(({ effect }) => effect === 'allow'),
  ];
}
