import type { ASTNode } from '@marcbachmann/cel-js';
import { MACROS_NESTED_MAX } from './limits.ts';

/** What a condition looks at: characters of payload, topic and properties, and how many elements their lists have. */
export interface Extent {
  readonly characters: number;
  readonly elements: number;
}

/** Steps that a part of a condition takes at most: a nanosecond each, more or less. */
export type Work = (extent: Extent) => number;

/** Steps of a node, beside the characters that it looks at. */
const NODE_STEPS = 50;
/** Of an element of a list: its predicate may fail, and an error takes ten microseconds. */
const ELEMENT_STEPS = 10_000;

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter']);
/** Their results are no larger than what they are given. */
const METHODS: ReadonlySet<string> = new Set([
  ...['contains', 'startsWith', 'endsWith', 'size', 'lowerAscii', 'upperAscii', 'trim'],
]);
const FUNCTIONS: ReadonlySet<string> = new Set(['has', 'size', 'int', 'double', 'string', 'bool', 'dyn']);
/** Operators that look at all of a text or a list. */
const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', '+']);

/** An iteration variable. */
interface Variable {
  /** Of one element. */
  readonly characters: Work;
  /** Its values are apart from each other in the message: together they have no more characters than it has. */
  readonly isPart: boolean;
}

type Scope = ReadonlyMap<string, Variable>;

/** A part that a condition of a client may not have. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
  readonly at: number;

  constructor(what: string, { start }: ASTNode) {
    super(what);
    this.at = start;
  }
}

/**
 * The steps of a condition, which the walk over its syntax tree knows before a message is there: a search costs the
 * product of both texts, a macro the steps of its predicate for each element.
 *
 * @throws {NotAllowed} with the first part whose steps have no such bound
 */
export function workOf(node: ASTNode, scope: Scope = new Map(), depth = 0): Work {
  const own = ownWork(node, scope, depth);
  const parts = childrenOf(node).map((child) => workOf(child, scope, depth));
  return (extent) => parts.reduce((sum, part) => sum + part(extent), NODE_STEPS + own(extent));
}

const NOTHING: Work = () => 0;

/** Of a node without its children. */
function ownWork(node: ASTNode, scope: Scope, depth: number): Work {
  if (node.op === 'rcall' && MACROS.has(node.args[0])) return macroWork(node, scope, depth);
  if (node.op === 'rcall') {
    const [name, receiver, [argument]] = node.args;
    if (!METHODS.has(name)) throw new NotAllowed(`${name}() is not for conditions of clients`, node);
    const searched = charactersOf(receiver, scope);
    if (argument === undefined) return searched;
    // All characters of the message where the argument is no literal: two parts of one element may be long.
    const wanted = isLiteral(argument) ? charactersOf(argument, scope) : ALL;
    return (extent) => searched(extent) * Math.max(1, wanted(extent));
  }
  if (node.op === 'call') {
    const [name, [argument]] = node.args;
    if (!FUNCTIONS.has(name)) throw new NotAllowed(`${name}() is not for conditions of clients`, node);
    return name === 'has' || argument === undefined ? NOTHING : charactersOf(argument, scope);
  }
  if (!COMPARISONS.has(node.op)) return NOTHING;
  const [left, right] = node.args as [ASTNode, ASTNode];
  const literal = [left, right].find(isLiteral);
  if (literal !== undefined && node.op !== '+' && node.op !== 'in') return charactersOf(literal, scope);
  return sumOf([charactersOf(left, scope), charactersOf(right, scope)]);
}

function macroWork(node: ASTNode & { readonly op: 'rcall' }, scope: Scope, depth: number): Work {
  const [name, range, [variable, predicate]] = node.args;
  if (depth >= MACROS_NESTED_MAX)
    throw new NotAllowed(`${name}() stands within ${MACROS_NESTED_MAX} others`, node);
  if (variable?.op !== 'id' || predicate === undefined)
    throw new NotAllowed(`${name}() has no variable`, node);
  const workWith = (value: Variable) =>
    workOf(predicate, new Map([...scope, [variable.args, value]]), depth + 1);
  const elements = elementsOf(range);
  if (!isPath(range, scope)) {
    const each = workWith({ characters: charactersOf(range, scope), isPart: false });
    return (extent) => elements(extent) * (ELEMENT_STEPS + each(extent));
  }
  // Steps rise with the characters of an element, and all elements have no more than the message.
  const without = workWith({ characters: () => 0, isPart: true });
  const withOne = workWith({ characters: () => 1, isPart: true });
  return (extent) => {
    const fixed = without(extent);
    const ofCharacters = (withOne(extent) - fixed) * extent.characters;
    return elements(extent) * (ELEMENT_STEPS + fixed) + ofCharacters;
  };
}

/** The elements that a list has at most. */
function elementsOf(range: ASTNode): Work {
  if (range.op === 'list') return () => range.args.length;
  if (range.op === '+' || range.op === '?:') return sumOf(range.args.map(elementsOf));
  if (range.op === 'rcall') return elementsOf(range.args[1]);
  return ({ elements }) => elements;
}

const ALL: Work = ({ characters }) => characters;

/** The characters that the value of a node has at most. */
function charactersOf(node: ASTNode, scope: Scope): Work {
  if (node.op === 'value') {
    const length = typeof node.args === 'string' ? node.args.length : 1;
    return () => length;
  }
  if (node.op === 'id') return scope.get(node.args)?.characters ?? ALL;
  if (node.op === '.' || node.op === '[]') return charactersOf(node.args[0], scope);
  return sumOf(childrenOf(node).map((child) => charactersOf(child, scope)));
}

function sumOf(works: readonly Work[]): Work {
  return (extent) => works.reduce((sum, work) => sum + work(extent), 0);
}

function isLiteral({ op }: ASTNode): boolean {
  return op === 'value';
}

/** A part of the message, of which no two elements are the same part. */
function isPath(node: ASTNode, scope: Scope): boolean {
  if (node.op === '.' || node.op === '[]') return isPath(node.args[0], scope);
  return node.op === 'id' && scope.get(node.args)?.isPart !== false;
}

/** The nodes of a syntax tree. */
export function nodesOf(node: ASTNode): number {
  const children = node.op === 'rcall' ? [node.args[1], ...node.args[2]] : childrenOf(node);
  return children.reduce((sum, child) => sum + nodesOf(child), 1);
}

/** Without the predicate of a macro, whose variable `macroWork` knows. */
function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return MACROS.has(node.args[0]) ? [node.args[1]] : [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}
