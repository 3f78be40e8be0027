import type { Message } from '@apus/broker';
import { compile, Variables } from './compile.ts';
import type { Problem, Verdict } from './verdict.ts';

export type Condition = (message: Message) => Verdict;

/** @returns the condition, or what is wrong with the expression */
export function conditionOf(expression: string): Condition | Problem {
  const compiled = compile(expression);
  if ('problem' in compiled) return compiled;
  return (message) => compiled.evaluate(new Variables(message));
}
