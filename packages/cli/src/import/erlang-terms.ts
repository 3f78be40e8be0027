import { CommandError } from '../commands/command.ts';

/** How deep tuples and lists stand in each other: deeper is no ACL. */
const DEPTH_MAX = 10;

/** A term of Erlang: a tuple and a list are both lists here, a text is a string or a binary. */
export type Term =
  | { readonly kind: 'atom' | 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'tuple' | 'list'; readonly terms: readonly Term[] };

/** A term that ends with a full stop, and the line on which it begins. */
export interface TopTerm {
  readonly term: Term;
  readonly where: string;
}

/** White space, or a comment. */
const SPACE = /\s+|%[^\n]*/y;
const ATOM = /[a-z][\w@]*|'(?:[^'\\\n]|\\.)*'/y;
const TEXT = /(?:<<)?"([^"\\]*(?:\\[\s\S][^"\\]*)*)"(?:\/utf8)?(?:>>)?/y;
const NUMBER = /-?\d{1,15}/y;

/** Reads the terms of a file, as of `acl.conf`. @throws {CommandError} with the line of what is no term */
export function readTerms(text: string, path: string): readonly TopTerm[] {
  return new Reader(text, path).all();
}

class Reader {
  readonly #text: string;
  readonly #path: string;
  #at = 0;
  #depth = 0;
  /** Where the line that was counted last ends: each is counted once. */
  #counted = { at: 0, line: 1 };

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  all(): readonly TopTerm[] {
    const terms: TopTerm[] = [];
    this.#skipSpace();
    while (this.#at < this.#text.length) {
      const where = this.#where();
      terms.push({ term: this.#term(), where });
      this.#expect('.', 'a full stop ends a term');
    }
    return terms;
  }

  #term(): Term {
    const open = this.#text[this.#at];
    if (open === '{') return { kind: 'tuple', terms: this.#terms('}') };
    if (open === '[') return { kind: 'list', terms: this.#terms(']') };
    const quoted = this.#skip(TEXT);
    if (quoted !== undefined) return { kind: 'text', text: unescaped(quoted[1] ?? '') };
    const number = this.#skip(NUMBER);
    if (number !== undefined) return { kind: 'number', number: Number(number[0]) };
    const atom = this.#skip(ATOM);
    if (atom === undefined)
      return this.#fail('a term has to stand here: {…}, […], "text", a number or an atom');
    const word = atom[0];
    return { kind: 'atom', text: word.startsWith("'") ? unescaped(word.slice(1, -1)) : word };
  }

  #terms(close: string): readonly Term[] {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) return this.#fail(`terms stand in more than ${DEPTH_MAX} others`);
    this.#at += 1;
    const terms: Term[] = [];
    this.#skipSpace();
    while (this.#text[this.#at] !== close) {
      if (terms.length > 0) this.#expect(',', `a comma or ${close} has to stand here`);
      terms.push(this.#term());
      this.#skipSpace();
    }
    this.#at += 1;
    this.#depth -= 1;
    return terms;
  }

  #expect(character: string, sentence: string): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) this.#fail(sentence);
    this.#at += 1;
    this.#skipSpace();
  }

  #skipSpace(): void {
    while (this.#skip(SPACE) !== undefined);
  }

  #skip(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }

  #where(): string {
    const between = this.#text.slice(this.#counted.at, this.#at);
    this.#counted = { at: this.#at, line: this.#counted.line + between.split('\n').length - 1 };
    return `${this.#path}:${this.#counted.line}`;
  }

  #fail(sentence: string): never {
    const rest = this.#text.slice(this.#at, this.#at + 20).split('\n')[0];
    throw new CommandError(`${this.#where()}: ${sentence}, not ${JSON.stringify(rest)}.`);
  }
}

function unescaped(text: string): string {
  return text.replace(
    /\\([\s\S])/g,
    (_, character: string) => ({ n: '\n', t: '\t' })[character] ?? character,
  );
}
