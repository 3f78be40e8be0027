import { type Message, parseJson } from '@apus/broker';
import { isUtf8 } from '@apus/mqtt';
import { Environment } from '@marcbachmann/cel-js';

/** Bounds of an expression, which is one line of a file: with them the evaluation takes microseconds. */
const LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 100,
  maxCallArguments: 16,
};
/** Larger payloads are not read as JSON: `payload` is null. */
export const JSON_BYTES_MAX = 256 * 1024;

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

/** True, false, or the reason why there is no result: a field is missing or of another type. */
export type Verdict = boolean | { readonly error: string };

export type Condition = (message: Message) => Verdict;

/** @returns the condition, or what is wrong with the expression */
export function conditionOf(expression: string): Condition | { readonly problem: string } {
  if (MATCHES.test(expression))
    return { problem: 'has matches(): use startsWith(), endsWith(), contains() and == instead.' };
  try {
    const { valid: isValid, type, error } = ENVIRONMENT.check(expression);
    if (!isValid) return { problem: `is no CEL expression over a message: ${firstLine(error)}.` };
    // A payload's field may have any type before a message is there.
    if (type !== 'bool' && type !== 'dyn') return { problem: `has to be true or false, and is a ${type}.` };
    const evaluate = ENVIRONMENT.parse(expression);
    return (message) => verdictOf(evaluate, message);
  } catch (error) {
    return { problem: `is no CEL expression over a message: ${firstLine(error)}.` };
  }
}

function verdictOf(evaluate: (context: Record<string, unknown>) => unknown, message: Message): Verdict {
  try {
    const value = evaluate(variablesOf(message));
    return typeof value === 'boolean' ? value : { error: 'it is neither true nor false' };
  } catch (error) {
    return { error: firstLine(error) };
  }
}

function variablesOf({ topic, payload, properties, qos, retain }: Message): Record<string, unknown> {
  const { contentType = '', userProperties = [] } = properties;
  return {
    topic,
    levels: topic.split('/'),
    payload: jsonOf(payload),
    user: new Map(userProperties),
    content_type: contentType,
    qos: BigInt(qos),
    retain,
  };
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
