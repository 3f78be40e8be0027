import type { Conditions, Message } from '@apus/broker';
import { Variables } from './condition.ts';
import { COMPILED_MAX, MESSAGES_MAX } from './limits.ts';
import { extentOf, type Where, whereOf } from './where.ts';
import type { Extent } from './work.ts';

/** What conditions have said of one message. */
interface Evaluated {
  readonly variables: Variables;
  readonly verdicts: Map<string, boolean>;
  extent: Extent | undefined;
}

/** Conditions of subscriptions in CEL. Each is compiled once, and evaluated once for a message. */
export class CelConditions implements Conditions {
  readonly #compiled = new Map<string, Where>();
  /** The messages that came last. */
  readonly #evaluated = new Map<Message, Evaluated>();

  check(where: string): string | undefined {
    const compiled = this.#compiled.get(where) ?? whereOf(where);
    if ('problem' in compiled) return compiled.problem;
    this.#keep(where, compiled);
    return undefined;
  }

  fits(where: string, message: Message): boolean {
    const evaluated = this.#evaluated.get(message) ?? this.#begin(message);
    const known = evaluated.verdicts.get(where);
    if (known !== undefined) return known;
    const fits = this.#evaluate(where, message, evaluated);
    evaluated.verdicts.set(where, fits);
    return fits;
  }

  #evaluate(where: string, message: Message, evaluated: Evaluated): boolean {
    const compiled = this.#compiled.get(where) ?? whereOf(where);
    // A session may have been granted it by a version with other bounds.
    if ('problem' in compiled) return false;
    this.#keep(where, compiled);
    return (
      compiled.evaluate(evaluated.variables, () => {
        evaluated.extent ??= extentOf(message);
        return evaluated.extent;
      }) === true
    );
  }

  #begin(message: Message): Evaluated {
    const evaluated = { variables: new Variables(message), verdicts: new Map(), extent: undefined };
    keepNewest(this.#evaluated, MESSAGES_MAX);
    this.#evaluated.set(message, evaluated);
    return evaluated;
  }

  #keep(where: string, compiled: Where): void {
    if (this.#compiled.has(where)) return;
    keepNewest(this.#compiled, COMPILED_MAX);
    this.#compiled.set(where, compiled);
  }
}

/** Makes room for one more. */
function keepNewest<K>(kept: Map<K, unknown>, maximum: number): void {
  if (kept.size < maximum) return;
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}
