import type { InvocationContext } from '../events/gateway.ts';

/** Time that a handler needs after the last answer that it waits for: to post and to save. */
const RESERVE_MS = 1_500;

/** How long the invocation of now may still wait. A function handles one event at a time. */
export class InvocationDeadline {
  #context: InvocationContext | undefined;

  /** `context`: the second argument of a handler. */
  begin(context: unknown): void {
    this.#context = isContext(context) ? context : undefined;
  }

  readonly remainingMs = (): number =>
    (this.#context?.getRemainingTimeInMillis() ?? Number.POSITIVE_INFINITY) - RESERVE_MS;
}

function isContext(value: unknown): value is InvocationContext {
  return typeof (value as InvocationContext | undefined)?.getRemainingTimeInMillis === 'function';
}
