import { OperateError } from './operate-error.ts';
import type { Resent, RuleOperator } from './rule-operator.ts';
import type { StackFunction } from './stack-function.ts';

/** The rules of a deployment, through their function. */
export class StackRules implements RuleOperator {
  readonly #function: StackFunction;
  readonly #tenant: string | undefined;

  constructor(rules: StackFunction, tenant: string | undefined) {
    this.#function = rules;
    this.#tenant = tenant;
  }

  async *rules(): AsyncGenerator<object> {
    yield* (await this.#ask<{ readonly rules: readonly object[] }>({ action: 'list' })).rules;
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
      answer = await this.#ask<Answer>({ action: 'dead', name, id, ...(from > 0 && { from }) });
      yield* answer.letters;
      from += answer.letters.length;
    } while (answer.isCut === true && answer.letters.length > 0);
    const { isAll } = answer;
    if (!isAll) throw new OperateError('There are more than one look shows: send or discard these first.');
  }

  async send(name: string, id: string | undefined): Promise<Resent> {
    type Answer = { readonly sent: number; readonly failure?: string };
    const { sent, failure } = await this.#ask<Answer>({ action: 'send', name, id });
    return { sent, ...(failure !== undefined && { error: failure }) };
  }

  async discard(name: string, id: string | undefined): Promise<void> {
    await this.#ask({ action: 'discard', name, id });
  }

  /** @throws {OperateError} with the sentence that the function answers */
  async #ask<T>(request: object): Promise<T> {
    const tenant = this.#tenant;
    const answer = await this.#function.invoke<T & { readonly error?: string }>({ ...request, tenant });
    if (answer.error === undefined) return answer;
    throw new OperateError(answer.error);
  }
}
