import { type AttributeValue, type TypeName, typeOf } from '../values/attribute-value.ts';
import { wrongNumber, wrongType } from './check-condition.ts';
import { ExpressionError } from './expression-error.ts';
import { isAtPath, parsePath, refuseOverlaps } from './path.ts';
import type { Placeholders } from './placeholders.ts';
import { Tokens } from './tokens.ts';
import type { Assigned, Change, Update } from './update.ts';

const SECTIONS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const;

/** Parses an UpdateExpression. Throws an ExpressionError. */
export function parseUpdate(expression: string, placeholders: Placeholders): Update {
  const changes = new UpdateParser(new Tokens(expression), placeholders).parse();
  refuseOverlaps(changes.map(({ path }) => path));
  return changes;
}

class UpdateParser {
  readonly #tokens: Tokens;
  readonly #placeholders: Placeholders;

  constructor(tokens: Tokens, placeholders: Placeholders) {
    this.#tokens = tokens;
    this.#placeholders = placeholders;
  }

  parse(): Update {
    const changes: Change[] = [];
    const seen = new Set<string>();
    do {
      const section = SECTIONS.find((name) => this.#tokens.isAtWord(name));
      if (section === undefined) throw this.#tokens.unexpected();
      if (seen.has(section)) {
        throw new ExpressionError(`The "${section}" section can only be used once in an update expression;`);
      }
      seen.add(section);
      this.#tokens.take();
      do changes.push(this.#change(section));
      while (this.#tokens.takeIf(','));
    } while (!this.#tokens.isAtEnd);
    return changes;
  }

  #change(section: (typeof SECTIONS)[number]): Change {
    const path = parsePath(this.#tokens, this.#placeholders);
    switch (section) {
      case 'SET':
        this.#tokens.expect('=');
        return { kind: 'set', path, assigned: this.#assigned() };
      case 'REMOVE':
        return { kind: 'remove', path };
      case 'ADD':
        return { kind: 'add', path, value: this.#value(section, ['N', 'SS', 'NS', 'BS']) };
      case 'DELETE':
        return { kind: 'delete', path, value: this.#value(section, ['SS', 'NS', 'BS']) };
    }
  }

  /** One operand, or two with a sign between them. */
  #assigned(): Assigned {
    const left = this.#operand();
    const sign = this.#tokens.next.text;
    if (sign !== '+' && sign !== '-') return left;
    this.#tokens.take();
    const right = this.#operand();
    checkLiterals(sign, [left, right], 'N');
    return { kind: sign === '+' ? 'sum' : 'difference', left, right };
  }

  #operand(): Assigned {
    if (this.#tokens.takeIf('(')) {
      const assigned = this.#assigned();
      this.#tokens.expect(')');
      return assigned;
    }
    const { text } = this.#tokens.next;
    if (text.startsWith(':')) {
      this.#tokens.take();
      return { kind: 'value', value: this.#placeholders.value(text) };
    }
    if (isAtPath(this.#tokens) && this.#tokens.isFollowedBy('(')) return this.#function();
    return { kind: 'path', path: parsePath(this.#tokens, this.#placeholders) };
  }

  #function(): Assigned {
    const name = this.#tokens.take().text;
    const operands: Assigned[] = [];
    this.#tokens.expect('(');
    do operands.push(this.#operand());
    while (this.#tokens.takeIf(','));
    this.#tokens.expect(')');
    if (name !== 'if_not_exists' && name !== 'list_append') {
      throw new ExpressionError(`Invalid function name; function: ${name}`);
    }
    const [first, second] = operands;
    if (first === undefined || second === undefined || operands.length !== 2) {
      throw wrongNumber(name, operands.length);
    }
    return name === 'list_append' ? listAppend(first, second) : ifNotExists(first, second);
  }

  #value(section: string, types: readonly TypeName[]): AttributeValue {
    const { text } = this.#tokens.next;
    if (!text.startsWith(':')) throw this.#tokens.unexpected();
    this.#tokens.take();
    const value = this.#placeholders.value(text);
    if (types.includes(typeOf(value))) return value;
    throw new ExpressionError(
      `Incorrect operand type for operator or function; operator: ${section}, operand type: ${LONG_NAMES[typeOf(value)]}, typeSet: ALLOWED_FOR_${section}_OPERAND`,
    );
  }
}

const LONG_NAMES: Readonly<Record<TypeName, string>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  SS: 'STRING SET',
  NS: 'NUMBER SET',
  BS: 'BINARY SET',
  L: 'LIST',
  M: 'MAP',
};

function listAppend(first: Assigned, second: Assigned): Assigned {
  checkLiterals('list_append', [first, second], 'L');
  return { kind: 'list_append', first, second };
}

function ifNotExists(first: Assigned, otherwise: Assigned): Assigned {
  if (first.kind === 'path') return { kind: 'if_not_exists', path: first.path, otherwise };
  throw new ExpressionError(
    'Operator or function requires a document path; operator or function: if_not_exists',
  );
}

function checkLiterals(name: string, operands: readonly Assigned[], type: TypeName): void {
  for (const operand of operands) {
    if (operand.kind !== 'value' || typeOf(operand.value) === type) continue;
    throw wrongType(name, typeOf(operand.value));
  }
}
