import type { Conditions, Message } from '@apus/broker';
import { Variables } from './compile.ts';
import {
  COMPILED_MAX,
  DEAR_STEPS,
  DEAR_STEPS_PER_MESSAGE_MAX,
  MESSAGES_MAX,
  STEPS_PER_DELIVERY,
  WHERE_STEPS_MAX,
} from './limits.ts';
import { extentOf, type Where, whereOf } from './where.ts';
import type { Extent } from './work.ts';

/** What conditions have said of one message. */
interface Evaluated {
  readonly variables: Variables;
  readonly verdicts: Map<string, boolean>;
  extent: Extent | undefined;
  dearSteps: number;
}

/** Conditions of subscriptions in CEL. Each is compiled once, and evaluated once for a message. */
export class CelConditions implements Conditions {
  readonly #compiled = new Map<string, Where>();
  /** The messages that came last. */
  readonly #evaluated = new Map<Message, Evaluated>();
  #steps = 0;

  get spent(): number {
    return Math.floor(this.#steps / STEPS_PER_DELIVERY);
  }

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
    const steps = compiled.stepsFor(() => {
      evaluated.extent ??= extentOf(message);
      return evaluated.extent;
    });
    if (steps > WHERE_STEPS_MAX) return false;
    if (steps > DEAR_STEPS) {
      evaluated.dearSteps += steps;
      if (evaluated.dearSteps > DEAR_STEPS_PER_MESSAGE_MAX) return false;
    }
    this.#steps += steps;
    return compiled.evaluate(evaluated.variables) === true;
  }

  #begin(message: Message): Evaluated {
    const evaluated = {
      variables: new Variables(message),
      verdicts: new Map(),
      extent: undefined,
      dearSteps: 0,
    };
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
