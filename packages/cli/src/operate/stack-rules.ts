import { OperateError } from './operator.ts';
import type { Resent, RuleOperator } from './rule-operator.ts';
import type { StackOperator } from './stack-operator.ts';

/** The stack's output with the name of the function of rules. */
export const RULES_OUTPUT = 'RulesName';

/** The rules of a deployment, through their function. */
export class StackRules implements RuleOperator {
  readonly #stack: StackOperator;

  /** @param stack calls the function of rules */
  constructor(stack: StackOperator) {
    this.#stack = stack;
  }

  async *rules(): AsyncGenerator<object> {
    yield* (await this.#stack.invoke<{ readonly rules: readonly object[] }>({ action: 'list' })).rules;
  }

  async *deadLetters(name: string, id: string | undefined): AsyncGenerator<object> {
    type Answer = {
      readonly letters: readonly object[];
      readonly isAll: boolean;
      /** Absent at a function of an older version. */
      readonly isCut?: boolean;
    };
    let from = 0;
    let answer: Answer;
    do {
      answer = await this.#stack.invoke<Answer>({ action: 'dead', name, id, ...(from > 0 && { from }) });
      yield* answer.letters;
      from += answer.letters.length;
    } while (answer.isCut === true && answer.letters.length > 0);
    const { isAll } = answer;
    if (!isAll) throw new OperateError('There are more than one look shows: send or discard these first.');
  }

  async send(name: string, id: string | undefined): Promise<Resent> {
    const { sent, failure } = await this.#stack.invoke<{ readonly sent: number; readonly failure?: string }>({
      action: 'send',
      name,
      id,
    });
    return { sent, ...(failure !== undefined && { error: failure }) };
  }

  async discard(name: string, id: string | undefined): Promise<void> {
    await this.#stack.invoke({ action: 'discard', name, id });
  }
}
