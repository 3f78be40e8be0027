import { type Rule, ruleFilterProblem } from '@apus/broker';
import { readRules, type UserEntry } from '@apus/identity';

/**
 * Permissions of another broker's user, in the order in which they are asked. The user may not do more here than
 * there: a line that rules cannot say is left out where it allows, and becomes wider where it denies.
 */
export class Permissions {
  readonly #rules: Rule[] = [];

  add(effect: Rule['effect'], action: Rule['action'], filter: string, more: Partial<Rule> = {}): void {
    const last = this.#rules.at(-1);
    const isLikeLast =
      last?.effect === effect &&
      last.action === action &&
      last.qos === more.qos &&
      last.retain === more.retain;
    if (isLikeLast) this.#rules.splice(-1, 1, { ...last, topicFilters: [...last.topicFilters, filter] });
    else this.#rules.push({ effect, action, topicFilters: [filter], ...more });
  }

  /** The fields of a user: the short form where it says all. A sentence if a broker would refuse them. */
  entry(): Pick<UserEntry, 'rules' | 'publish' | 'subscribe'> | string {
    const isShort = this.#rules.every(
      ({ effect, qos, retain }) => effect === 'allow' && qos === undefined && retain === undefined,
    );
    const fields = isShort
      ? { publish: this.#filtersFor('publish'), subscribe: this.#filtersFor('subscribe') }
      : { rules: this.#rules };
    const read = readRules(fields);
    return typeof read === 'string' ? read : fields;
  }

  #filtersFor(action: 'publish' | 'subscribe'): readonly string[] {
    const rules = this.#rules.filter((rule) => rule.action === 'all' || rule.action === action);
    return [...new Set(rules.flatMap(({ topicFilters }) => topicFilters))];
  }
}

const PLACEHOLDER = /%u|%c|\$\{username\}|\$\{clientid\}/;

/** The texts of a filter that the other broker fills in. */
export type Placeholders = RegExp;

/**
 * The filter as a rule here has it. `problem` says why it is not the same: an allow is then left out, and the filter of
 * a deny has `+` for the levels that cannot be said.
 */
export function filterFor(
  effect: Rule['effect'],
  filter: string,
  placeholders: Placeholders | undefined,
): { readonly filter: string | undefined; readonly problem?: string } {
  const levels = filter.split('/');
  const isSayable = (level: string) => {
    const rest = placeholders === undefined ? level : level.replaceAll(placeholders, '');
    return !PLACEHOLDER.test(rest) && !/\$\{/.test(rest);
  };
  const isLiteral = filter.startsWith('eq ');
  if (isLiteral || !levels.every(isSayable)) {
    const problem = isLiteral
      ? '"eq " at the beginning of a filter has another meaning here'
      : 'a text in it is, or looks like, a placeholder here';
    if (effect === 'allow') return { filter: undefined, problem };
    const wider = levels.map((level, index) =>
      (isLiteral && index === 0) || !isSayable(level) ? '+' : level,
    );
    return { filter: wider.join('/'), problem };
  }
  const problem = ruleFilterProblem(filter);
  return problem === undefined ? { filter } : { filter: undefined, problem };
}
