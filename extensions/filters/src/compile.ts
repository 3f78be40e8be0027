import { type Message, parseJson } from '@apus/broker';
import { isUtf8 } from '@apus/mqtt';
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { JSON_BYTES_MAX } from './limits.ts';
import type { Problem, Verdict } from './verdict.ts';

/** Bounds of an expression, which is one line of a file: with them the evaluation takes microseconds. */
const LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 100,
  maxCallArguments: 16,
};

/** The variables of a condition. */
const ENVIRONMENT = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
  .registerVariable('topic', 'string')
  .registerVariable('levels', 'list<string>')
  .registerVariable('payload', 'dyn')
  .registerVariable('user', 'map<string, string>')
  .registerVariable('content_type', 'string')
  .registerVariable('qos', 'int')
  .registerVariable('retain', 'bool');

/** JavaScript's regular expressions, which the library would use, may take any time. */
const MATCHES = /\bmatches\s*\(/;

/** An expression that has been checked. */
export interface Compiled {
  readonly ast: ASTNode;
  evaluate(variables: Variables): Verdict;
}

/** @returns what the expression says of a message, or what is wrong with it */
export function compile(expression: string): Compiled | Problem {
  if (MATCHES.test(expression))
    return { problem: 'has matches(): use startsWith(), endsWith(), contains() and == instead.' };
  try {
    const { valid: isValid, type, error } = ENVIRONMENT.check(expression);
    if (!isValid) return { problem: `is no CEL expression over a message: ${whyAndWhere(error)}.` };
    // A payload's field may have any type before a message is there.
    if (type !== 'bool' && type !== 'dyn') return { problem: `has to be true or false, and is a ${type}.` };
    const evaluate = ENVIRONMENT.parse(expression);
    return { ast: evaluate.ast, evaluate: (variables) => verdictOf(evaluate, variables) };
  } catch (error) {
    return { problem: `is no CEL expression over a message: ${whyAndWhere(error)}.` };
  }
}

function verdictOf(evaluate: (context: Variables) => unknown, variables: Variables): Verdict {
  try {
    const value = evaluate(variables);
    return typeof value === 'boolean' ? value : { error: 'it is neither true nor false' };
  } catch (error) {
    return { error: firstLine(error) };
  }
}

/** The variables of a message. The payload is read as JSON when a condition looks at it, and once. */
export class Variables {
  readonly topic: string;
  readonly levels: readonly string[];
  readonly user: ReadonlyMap<string, string>;
  readonly content_type: string;
  readonly qos: bigint;
  readonly retain: boolean;
  readonly #payload: Uint8Array;
  #json: unknown;

  constructor({ topic, payload, properties, qos, retain }: Message) {
    const { contentType = '', userProperties = [] } = properties;
    this.topic = topic;
    this.levels = topic.split('/');
    this.user = new Map(userProperties);
    this.content_type = contentType;
    this.qos = BigInt(qos);
    this.retain = retain;
    this.#payload = payload;
  }

  get payload(): unknown {
    if (this.#json === undefined) this.#json = jsonOf(this.#payload);
    return this.#json;
  }
}

function jsonOf(payload: Uint8Array): unknown {
  if (payload.length > JSON_BYTES_MAX || !isUtf8(payload)) return null;
  try {
    return parseJson(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString());
  } catch {
    return null;
  }
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}

function whyAndWhere(error: unknown): string {
  const { range } = error as { readonly range?: { readonly start: number } };
  return range === undefined ? firstLine(error) : `${firstLine(error)}, at character ${range.start + 1}`;
}
