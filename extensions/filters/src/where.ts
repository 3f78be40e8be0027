import type { Message } from '@apus/broker';
import { levelCount } from '@apus/mqtt';
import type { ASTNode } from '@marcbachmann/cel-js';
import { compile, type Variables } from './compile.ts';
import { DEAR_STEPS, JSON_BYTES_MAX, WHERE_LENGTH_MAX, WHERE_NODES_MAX } from './limits.ts';
import type { Problem, Verdict } from './verdict.ts';
import { type Extent, NotAllowed, nodesOf, workOf } from './work.ts';

/** A condition of a client. */
export interface Where {
  /** Steps of an evaluation at most. `extent`: of the message, where the condition asks for it. */
  stepsFor(extent: () => Extent): number;
  evaluate(variables: Variables): Verdict;
}

/** No message is larger, as far as conditions look at it. */
const LARGEST: Extent = { characters: 2 * JSON_BYTES_MAX, elements: JSON_BYTES_MAX };

/** @returns the condition, or what is wrong with it, beside what is wrong for a rule as well */
export function whereOf(text: string): Where | Problem {
  if (text.length > WHERE_LENGTH_MAX)
    return { problem: `has at most ${WHERE_LENGTH_MAX} characters, not ${text.length}.` };
  const compiled = compile(text);
  if ('problem' in compiled) return compiled;
  const nodes = nodesOf(compiled.ast);
  if (nodes > WHERE_NODES_MAX) return { problem: `has at most ${WHERE_NODES_MAX} nodes, not ${nodes}.` };
  const work = boundedWorkOf(compiled.ast);
  if ('problem' in work) return work;
  const most = work(LARGEST);
  // Most conditions take few steps whatever comes.
  const stepsFor = (extent: () => Extent) => (most <= DEAR_STEPS ? most : work(extent()));
  return { evaluate: compiled.evaluate, stepsFor };
}

function boundedWorkOf(ast: ASTNode): ReturnType<typeof workOf> | Problem {
  try {
    return workOf(ast);
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error;
    return { problem: `is refused: ${error.message}, at character ${error.at + 1}.` };
  }
}

const COMMA = 0x2c;

/** Each element of a list but the first follows a comma. */
export function extentOf({ topic, payload, properties }: Message): Extent {
  const { contentType = '', userProperties = [] } = properties;
  let characters = topic.length + contentType.length;
  for (const [name, value] of userProperties) characters += name.length + value.length;
  let elements = levelCount(topic) + userProperties.length + 1;
  if (payload.length > JSON_BYTES_MAX) return { characters, elements };
  for (let at = 0; at < payload.length; at += 1) if (payload[at] === COMMA) elements += 1;
  return { characters: characters + payload.length, elements };
}
