import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesAuthorizer } from '@apus/broker';
import { readRules } from '@apus/identity';
import { matches } from '@apus/mqtt';
import { type Arbitrary, array, assert, constantFrom, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import type { AclLine } from '../src/import/mosquitto-acl.ts';
import { readMosquittoAcl } from '../src/import/mosquitto-acl.ts';
import { Permissions } from '../src/import/permissions.ts';
import type { Note } from '../src/import/report.ts';
import { temporaryFolder } from './support/temporary-file.ts';

const NAME = 'ada';
const LEVELS = ['a', 'b', NAME, '%u', '+', '$x', `\${x}`];
const FILTERS = LEVELS.flatMap((first) => [
  first,
  `${first}/#`,
  ...LEVELS.map((second) => `${first}/${second}`),
]).concat('#', 'eq a', '%u-a');
const NAMES = ['a', 'b', NAME, '%u', '$x', `\${x}`];
const TOPICS = NAMES.flatMap((first) => [first, ...NAMES.map((second) => `${first}/${second}`)]).concat(
  'ada-a',
);

interface Line {
  readonly kind: string;
  readonly access: string;
  readonly filter: string;
}

const line: Arbitrary<Line> = record({
  kind: constantFrom('topic', 'pattern'),
  access: constantFrom('read', 'write', 'readwrite', 'deny'),
  filter: constantFrom(...FILTERS),
});

/** Decides as Mosquitto 2.0 does (`mosquitto_acl_check_default`), as test/import/mosquitto.test.ts sees it do. */
function mosquittoAllows(lines: readonly Line[], topic: string, access: 'read' | 'write'): boolean {
  for (const kind of ['topic', 'pattern']) {
    const fitting = lines.filter((each) => {
      if (each.kind !== kind) return false;
      return matches(kind === 'pattern' ? each.filter.replaceAll('%u', NAME) : each.filter, topic);
    });
    if (fitting.some((each) => each.access === 'deny')) return false;
    if (fitting.some((each) => each.access.includes(access))) return true;
  }
  return false;
}

/** The rules of `ada`; undefined where they are too many for a user. */
function imported(path: string, lines: readonly Line[]) {
  const text = lines.map(({ kind, access, filter }) => `${kind} ${access} ${filter}`).join('\n');
  writeFileSync(path, `user ${NAME}\n${text}\n`);
  const notes: Note[] = [];
  const { users, patterns } = readMosquittoAcl(path, notes);
  const permissions = new Permissions();
  const all: readonly AclLine[] = [...(users.get(NAME) ?? []), ...patterns];
  for (const { effect, action, filter } of all) permissions.add(effect, action, filter);
  const entry = permissions.entry();
  const rules = typeof entry === 'string' ? entry : readRules(entry);
  if (typeof rules === 'string') throw new Error(rules);
  return { rules, isSame: notes.length === 0 };
}

test('rules of an ACL file allow nothing that Mosquitto does not, and the same where nothing is noted', () => {
  const path = join(temporaryFolder(), 'acl');
  const terms = { qos: 1, retain: false } as const;
  assert(
    property(array(line, { minLength: 1, maxLength: 8 }), (lines) => {
      const { rules, isSame } = imported(path, lines);
      const identity = { tenant: 'default', name: NAME, rules };
      for (const topic of TOPICS) {
        const mayPublish = rulesAuthorizer.mayPublish(identity, NAME, topic, terms);
        const mayRead = rulesAuthorizer.maySubscribe(identity, NAME, topic, {
          qos: 1,
          shareGroup: undefined,
        });
        const there = [mosquittoAllows(lines, topic, 'write'), mosquittoAllows(lines, topic, 'read')];
        if (isSame) expect([topic, mayPublish, mayRead]).toEqual([topic, ...there]);
        else expect([topic, mayPublish && !there[0], mayRead && !there[1]]).toEqual([topic, false, false]);
      }
      for (const filter of ['#', '+', '+/+', 'a/+', 'a/#', `${NAME}/#`, '+/b']) {
        const terms = { qos: 1, shareGroup: undefined } as const;
        if (!rulesAuthorizer.maySubscribe(identity, NAME, filter, terms)) continue;
        const denied = TOPICS.filter(
          (topic) => matches(filter, topic) && !mosquittoAllows(lines, topic, 'read'),
        );
        expect([filter, denied]).toEqual([filter, []]);
      }
    }),
    { numRuns: 500 },
  );
});
