import { syntaxError } from './expression-error.ts';

/** A word, `#name`, `:value`, a whole number or a sign; the last token of an expression has no text. */
export interface Token {
  readonly text: string;
  readonly start: number;
}

/** Any other character is invalid in an expression. */
const TOKEN = /\s*(?:([#:]?[A-Za-z0-9_]+|<>|<=|>=|[=<>(),.[\]+-])|(\S))?/y;

/** The tokens of an expression in their order, and where the parser stands among them. */
export class Tokens {
  readonly #expression: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(expression: string) {
    this.#expression = expression;
    this.#tokens = tokenize(expression);
  }

  get next(): Token {
    return this.#tokens[this.#position] ?? { text: '', start: this.#expression.length };
  }

  get isAtEnd(): boolean {
    return this.next.text === '';
  }

  take(): Token {
    const token = this.next;
    this.#position += 1;
    return token;
  }

  /** Whether the next token is this sign. */
  isAt(sign: string): boolean {
    return this.next.text === sign;
  }

  /** Whether the next token is this word, in any case. */
  isAtWord(word: string): boolean {
    return this.next.text.toUpperCase() === word;
  }

  takeIf(sign: string): boolean {
    if (!this.isAt(sign)) return false;
    this.take();
    return true;
  }

  takeWordIf(word: string): boolean {
    if (!this.isAtWord(word)) return false;
    this.take();
    return true;
  }

  /** Whether the sign comes after the next token. */
  isFollowedBy(sign: string): boolean {
    return this.#tokens[this.#position + 1]?.text === sign;
  }

  expect(sign: string): void {
    if (!this.takeIf(sign)) throw this.unexpected();
  }

  expectWord(word: string): void {
    if (!this.takeWordIf(word)) throw this.unexpected();
  }

  expectEnd(): void {
    if (!this.isAtEnd) throw this.unexpected();
  }

  /** An error: the next token is not allowed here. */
  unexpected(): Error {
    const { text, start } = this.next;
    const before = this.#tokens[this.#position - 1]?.start ?? start;
    const after = this.#tokens[this.#position + 1];
    const end = after === undefined ? this.#expression.length : after.start + after.text.length;
    return syntaxError(text === '' ? '<EOF>' : text, this.#expression.slice(before, end));
  }
}

function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const [, token, other] = TOKEN.exec(expression) ?? [];
    const text = token ?? other;
    if (text === undefined) break;
    const start = TOKEN.lastIndex - text.length;
    if (other !== undefined) throw syntaxError(text, expression.slice(tokens.at(-1)?.start ?? 0, start + 1));
    tokens.push({ text, start });
  }
  return tokens;
}
