/**
 * One text for both doors. On the node a port answers from memory, in the cloud it answers over the network.
 * A use case is a generator that says `yield* waitFor(port.call())` where one would write `await`:
 * an answer that is already there costs no promise and no turn of the event loop.
 */
export type Awaitable<T> = T | Promise<T>;

/** A use case under way. It yields the promises it waits for and returns its result. */
export type Flow<T> = Generator<Promise<unknown>, T, unknown>;

/** The rest of a use case that has begun when it was called; undefined: it is over, and has cost no generator. */
export type Rest = Flow<void> | undefined;

export function* finish(rest: Rest): Flow<void> {
  if (rest !== undefined) yield* rest;
}

/** A result that is a word, or the rest of the use case that has it. */
export type Outcome<T extends string> = T | Flow<T>;

export function* outcomeOf<T extends string>(outcome: Outcome<T>): Flow<T> {
  return typeof outcome === 'string' ? outcome : yield* outcome;
}

/** The value, waited for only when it is a promise. */
export function* waitFor<T>(value: Awaitable<T>): Flow<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Runs a use case to its end, at once when no port made it wait. Rejects or throws what the use case throws. */
export function run<T>(flow: Flow<T>): Awaitable<T> {
  const step = flow.next();
  return step.done ? step.value : continueAfter(flow, step.value);
}

async function continueAfter<T>(flow: Flow<T>, first: Promise<unknown>): Promise<T> {
  let step: IteratorResult<Promise<unknown>, T> = { done: false, value: first };
  while (!step.done) step = await nextStep(flow, step.value);
  return step.value;
}

async function nextStep<T>(
  flow: Flow<T>,
  waiting: Promise<unknown>,
): Promise<IteratorResult<Promise<unknown>, T>> {
  let answer: unknown;
  try {
    answer = await waiting;
  } catch (error) {
    return flow.throw(error);
  }
  return flow.next(answer);
}
