/**
 * One implementation for both doors: at the node a port answers from memory, in the cloud over the network. A use case
 * is a generator, with `yield* waitFor(port.call())` in the place of `await`: an answer that is there already costs no
 * promise and no turn of the event loop.
 */
export type Awaitable<T> = T | Promise<T>;

/** A running use case. It yields the promises that it waits for, and returns its result. */
export type Flow<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for the value if it is a promise. */
export function* waitFor<T>(value: Awaitable<T>): Flow<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Filters of one packet that are looked at, or stored, before others have their turn: some milliseconds. */
export const FILTERS_PER_TURN = 1_000;

/** Lets others have a turn of the event loop [SEC-WORK-10]. */
export function* nextTurn(): Flow<void> {
  yield new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * Runs a use case to its end: without a promise if no port made it wait. Rejects or throws the error of the use case.
 */
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
