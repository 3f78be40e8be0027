import type { Rule } from '@apus/broker';
import type { QoS } from '@apus/mqtt';
import { CommandError } from '../commands/command.ts';
import { readTerms, type Term } from './erlang-terms.ts';
import { filterFor, type Permissions } from './permissions.ts';
import type { Note } from './report.ts';
import { readSource } from './source.ts';

/** Whether a rule is for a user: `perhaps` where it depends on what Apus's rules do not ask. */
type Answer = 'yes' | 'no' | 'perhaps';

/** One line of `acl.conf`. */
export interface EmqxAclRule {
  readonly effect: Rule['effect'];
  readonly isFor: (user: string) => Answer;
  readonly action: Rule['action'];
  readonly filters: readonly string[];
  readonly terms: Pick<Rule, 'qos' | 'retain'>;
}

const PLACEHOLDERS = /%u|%c|\$\{username\}|\$\{clientid\}/g;
/** The conditions on the name of a client. */
const NAMES: ReadonlySet<string> = new Set(['user', 'username']);
const EVERY_TOPIC = ['#', '$SYS/#'];

/** @throws {CommandError} for a line that EMQX would refuse */
export function readEmqxAcl(path: string, notes: Note[]): readonly EmqxAclRule[] {
  return readTerms(readSource(path), path).map(({ term, where }) => ruleOf(term, where, notes));
}

/** Adds what the file says of a user, in its order. */
export function addAcl(permissions: Permissions, rules: readonly EmqxAclRule[], user: string): void {
  for (const { effect, isFor, action, filters, terms } of rules) {
    const answer = isFor(user);
    if (answer === 'no' || (answer === 'perhaps' && effect === 'allow')) continue;
    for (const filter of filters) permissions.add(effect, action, filter, terms);
  }
}

function ruleOf(term: Term, where: string, notes: Note[]): EmqxAclRule {
  const [first, who, action, topics, ...others] = term.kind === 'tuple' ? term.terms : [];
  const effect = first?.kind === 'atom' ? first.text : '';
  if ((effect !== 'allow' && effect !== 'deny') || who === undefined || others.length > 0)
    throw new CommandError(`${where}: a rule is as {allow, {user, "ada"}, publish, ["a/#"]}.`);
  const isFor = whoOf(who, where);
  if (asksMore(who)) {
    const why = effect === 'allow' ? 'it is left out' : 'it denies all users whom it may concern';
    notes.push({
      where,
      why: `${why}: rules here know the name of a client, and not its address, identifier or attributes`,
    });
  }
  const { action: kind, terms } = actionOf(action, where);
  return { effect, isFor, action: kind, filters: filtersOf(effect, topics, where, notes), terms };
}

/** Whether it asks for more than the name of a client. */
function asksMore(who: Term): boolean {
  if (who.kind === 'atom') return false;
  const [kind, value] = 'terms' in who ? who.terms : [];
  const name = kind?.kind === 'atom' ? kind.text : '';
  if ((name === 'and' || name === 'or') && value?.kind === 'list') return value.terms.some(asksMore);
  return !NAMES.has(name) || value?.kind !== 'text';
}

function whoOf(who: Term, where: string): EmqxAclRule['isFor'] {
  if (who.kind === 'atom' && who.text === 'all') return () => 'yes';
  const [kind, value] = who.kind === 'tuple' ? who.terms : [];
  const name = kind?.kind === 'atom' ? kind.text : '';
  if (value === undefined)
    throw new CommandError(`${where}: it names all, {user, NAME}, {ipaddr, ADDRESS} or the like.`);
  if (NAMES.has(name) && value.kind === 'text') return (user) => (user === value.text ? 'yes' : 'no');
  if ((name === 'and' || name === 'or') && value.kind === 'list') {
    const parts = value.terms.map((each) => whoOf(each, where));
    return (user) =>
      joined(
        name,
        parts.map((part) => part(user)),
      );
  }
  return () => 'perhaps';
}

function joined(name: 'and' | 'or', answers: readonly Answer[]): Answer {
  const [one, all] = name === 'and' ? (['no', 'yes'] as const) : (['yes', 'no'] as const);
  if (answers.includes(one)) return one;
  return answers.includes('perhaps') ? 'perhaps' : all;
}

function actionOf(term: Term | undefined, where: string): Pick<EmqxAclRule, 'action' | 'terms'> {
  const [name, conditions] = term?.kind === 'tuple' ? term.terms : [term];
  const action = name === undefined ? 'all' : name.kind === 'atom' ? name.text : '';
  if (action !== 'publish' && action !== 'subscribe' && action !== 'all')
    throw new CommandError(`${where}: an action is publish, subscribe or all.`);
  const terms: { qos?: readonly QoS[]; retain?: boolean } = {};
  for (const condition of conditions?.kind === 'list' ? conditions.terms : []) {
    const [field, value] = condition.kind === 'tuple' ? condition.terms : [];
    const key = field?.kind === 'atom' ? field.text : '';
    if (key === 'qos') terms.qos = qosOf(value, where);
    else if (key !== 'retain') throw new CommandError(`${where}: a condition of an action is qos or retain.`);
    else if (value?.kind === 'atom' && value.text !== 'all' && action !== 'subscribe')
      terms.retain = value.text === 'true';
  }
  return { action, terms };
}

function qosOf(value: Term | undefined, where: string): readonly QoS[] {
  const given = value?.kind === 'list' ? value.terms : [value];
  return given.map((each) => {
    const qos = each?.kind === 'number' ? each.number : -1;
    if (qos !== 0 && qos !== 1 && qos !== 2) throw new CommandError(`${where}: QoS is 0, 1 or 2.`);
    return qos;
  });
}

function filtersOf(
  effect: Rule['effect'],
  topics: Term | undefined,
  where: string,
  notes: Note[],
): readonly string[] {
  if (topics === undefined) return EVERY_TOPIC;
  if (topics.kind !== 'list') throw new CommandError(`${where}: the topics are a list, as ["a/#"].`);
  return topics.terms.flatMap((topic) => {
    const [eq, exact] = topic.kind === 'tuple' ? topic.terms : [];
    if (eq?.kind === 'atom' && eq.text === 'eq' && exact?.kind === 'text') return [`eq ${exact.text}`];
    if (topic.kind !== 'text') throw new CommandError(`${where}: a topic is a text, or {eq, "a/#"}.`);
    const { filter, problem } = filterFor(effect, topic.text, PLACEHOLDERS);
    if (problem !== undefined)
      notes.push({
        where,
        why: `${JSON.stringify(topic.text)} ${filter === undefined ? 'is left out' : `denies ${filter}`}: ${problem}`,
      });
    return filter === undefined ? [] : [filter];
  });
}
