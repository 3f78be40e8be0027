import { LIMITS } from '../limits.ts';
import {
  checkBetween,
  checkComparison,
  checkFunction,
  checkIn,
  checkSize,
  misused,
  wrongNumber,
} from './check-condition.ts';
import { COMPARATORS, type Comparator, type Condition, type Operand } from './condition.ts';
import { ExpressionError } from './expression-error.ts';
import { isAtPath, parsePath } from './path.ts';
import type { Placeholders } from './placeholders.ts';
import { Tokens } from './tokens.ts';

/** Parses a ConditionExpression, FilterExpression or KeyConditionExpression. Throws an ExpressionError. */
export function parseCondition(expression: string, placeholders: Placeholders): Condition {
  const parser = new ConditionParser(new Tokens(expression), placeholders);
  return parser.parse();
}

/** `OR` binds least, then `AND`, then `NOT`; recursive descent, a method for each. */
class ConditionParser {
  readonly #tokens: Tokens;
  readonly #placeholders: Placeholders;
  #operators = 0;
  /** Conditions that stand in parentheses of their own. */
  readonly #parenthesized = new Set<Condition>();

  constructor(tokens: Tokens, placeholders: Placeholders) {
    this.#tokens = tokens;
    this.#placeholders = placeholders;
  }

  parse(): Condition {
    const condition = this.#or();
    this.#tokens.expectEnd();
    return condition;
  }

  #or(): Condition {
    let left = this.#and();
    while (this.#tokens.takeWordIf('OR')) {
      this.#countOperator();
      left = { kind: 'or', left, right: this.#and() };
    }
    return left;
  }

  #and(): Condition {
    let left = this.#not();
    while (this.#tokens.takeWordIf('AND')) {
      this.#countOperator();
      left = { kind: 'and', left, right: this.#not() };
    }
    return left;
  }

  #not(): Condition {
    if (!this.#tokens.takeWordIf('NOT')) return this.#primary();
    this.#countOperator();
    return { kind: 'not', condition: this.#not() };
  }

  #primary(): Condition {
    if (this.#tokens.isAt('(')) return this.#inParentheses();
    this.#countOperator();
    if (this.#tokens.isFollowedBy('(') && !this.#tokens.isAtWord('SIZE')) return this.#function();
    return this.#comparison(this.#operand());
  }

  #inParentheses(): Condition {
    this.#tokens.expect('(');
    const condition = this.#or();
    this.#tokens.expect(')');
    if (this.#parenthesized.has(condition)) {
      throw new ExpressionError('The expression has redundant parentheses;');
    }
    this.#parenthesized.add(condition);
    return condition;
  }

  #comparison(left: Operand): Condition {
    if (this.#tokens.takeWordIf('BETWEEN')) {
      const low = this.#operand();
      this.#tokens.expectWord('AND');
      return checkBetween({ kind: 'between', operand: left, low, high: this.#operand() });
    }
    if (this.#tokens.takeWordIf('IN')) {
      return checkIn({ kind: 'in', operand: left, list: this.#operands() });
    }
    const comparator = COMPARATORS.find((sign) => this.#tokens.isAt(sign));
    if (comparator === undefined) throw left.kind === 'size' ? misused('size') : this.#tokens.unexpected();
    return this.#compare(left, comparator);
  }

  #compare(left: Operand, comparator: Comparator): Condition {
    this.#tokens.expect(comparator);
    return checkComparison({ kind: 'compare', comparator, left, right: this.#operand() });
  }

  #function(): Condition {
    const name = this.#tokens.take().text;
    return checkFunction(name, this.#operands());
  }

  #operands(): Operand[] {
    const operands: Operand[] = [];
    this.#tokens.expect('(');
    do operands.push(this.#operand());
    while (this.#tokens.takeIf(','));
    this.#tokens.expect(')');
    return operands;
  }

  #operand(): Operand {
    const { text } = this.#tokens.next;
    if (text.startsWith(':')) {
      this.#tokens.take();
      return { kind: 'value', value: this.#placeholders.value(text) };
    }
    if (isAtPath(this.#tokens) && this.#tokens.isFollowedBy('(')) return this.#size();
    return { kind: 'path', path: parsePath(this.#tokens, this.#placeholders) };
  }

  /** The one function whose result is compared. Names of functions are in lower case. */
  #size(): Operand {
    const name = this.#tokens.take().text;
    const operands = this.#operands();
    if (name !== 'size') {
      checkFunction(name, operands);
      throw misused(name);
    }
    const [of] = operands;
    if (of === undefined || operands.length !== 1) {
      throw wrongNumber('size', operands.length);
    }
    this.#countOperator();
    return checkSize(of);
  }

  #countOperator(): void {
    this.#operators += 1;
    if (this.#operators <= LIMITS.expressionOperatorsMax) return;
    throw new ExpressionError(
      `The expression contains more operators than allowed; maximum number of operators: ${LIMITS.expressionOperatorsMax}`,
    );
  }
}
