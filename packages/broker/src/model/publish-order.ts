import type { Flow } from './flow.ts';

/** Messages of one publisher that are accepted at a time, and their bytes: beyond it the next one waits for an end. */
export const PUBLISHES_UNDER_WAY_MAX = 100;
export const PUBLISHES_UNDER_WAY_BYTES = 256 * 1024;

/** Called when the next message may be given to the broker. */
export interface OrderCallbacks {
  /** The stream has been asked to append this message: the next one can be refused with it, and cannot overtake it. */
  asked?(): void;
  /** The queues have this message, and perhaps not their disk: the next one comes behind it there. */
  offered?(): void;
  /** Every subscriber gets this message before the next one. It is not durable yet, and may still be refused. */
  handedOn?(): void;
}

/**
 * Messages of one publisher that are accepted at the same time. Each is handed on, and answered, when those before it
 * are:
 *
 *     message 1        asks the stream or queues        handed on          answered
 *     message 2                        asks the stream or queues      handed on         answered
 */
export class PublishOrder {
  #last: OrderedPublish | undefined;
  #size = 0;
  #bytes = 0;
  /** The newest one has been handed on, and the next one may come when another has ended. */
  #held: (() => void) | undefined;
  #hasFailed = false;

  /** A message has no answer: the connection ends, and its publisher sends it again. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** The message comes behind all that have entered. Its caller calls `end`. */
  enter(bytes: number, callbacks: OrderCallbacks): OrderedPublish {
    this.#size += 1;
    this.#bytes += bytes;
    const entered = new OrderedPublish(this, this.#last, bytes, callbacks);
    this.#last = entered;
    return entered;
  }

  /** Called by a message of this order. */
  goOn(next: () => void): void {
    if (this.#size < PUBLISHES_UNDER_WAY_MAX && this.#bytes < PUBLISHES_UNDER_WAY_BYTES) next();
    else this.#held = next;
  }

  /** Called by a message of this order. */
  ended(message: OrderedPublish, bytes: number, isAnswered: boolean): void {
    this.#size -= 1;
    this.#bytes -= bytes;
    if (!isAnswered) this.#hasFailed = true;
    const held = this.#held;
    this.#held = undefined;
    if (this.#last !== message) {
      if (held !== undefined) this.goOn(held);
    } else if (isAnswered) this.#last = undefined;
  }
}

/** One message of a `PublishOrder`. */
export class OrderedPublish {
  readonly #order: PublishOrder;
  readonly #bytes: number;
  readonly #callbacks: OrderCallbacks;
  #before: OrderedPublish | undefined;
  #isOffered = false;
  #isHandedOn = false;
  #isEnded = false;
  #isAnswered = false;
  #hasGoneOn = false;
  #whenHandedOn: (() => void) | undefined;
  #whenEnded: (() => void) | undefined;

  constructor(
    order: PublishOrder,
    before: OrderedPublish | undefined,
    bytes: number,
    callbacks: OrderCallbacks,
  ) {
    this.#order = order;
    this.#before = before;
    this.#bytes = bytes;
    this.#callbacks = callbacks;
  }

  /** Those before have been handed on. */
  get isNext(): boolean {
    return this.#before === undefined || this.#before.#isHandedOn;
  }

  /** The queues that those before are for have them. */
  get mayOffer(): boolean {
    const before = this.#before;
    return before === undefined || before.#isHandedOn || before.#isOffered;
  }

  /** Those before have been answered. */
  get isFirst(): boolean {
    return this.#before === undefined || this.#before.#isAnswered;
  }

  asked(): void {
    this.#goOn(this.#callbacks.asked);
  }

  offered(): void {
    this.#isOffered = true;
    this.#goOn(this.#callbacks.offered);
  }

  /** @throws if one has failed: the publisher sends those behind it again, too, and none overtakes it */
  stayBehind(): void {
    if (this.#order.hasFailed) throw new Error('a message before it has failed');
  }

  /** Waits until those before have been handed on, or have ended. */
  *untilNext(): Flow<void> {
    const before = this.#before;
    if (before === undefined || before.#isHandedOn) return;
    yield new Promise<void>((resolve) => {
      before.#whenHandedOn = resolve;
    });
  }

  handedOn(): void {
    if (this.#isHandedOn) return;
    this.#isHandedOn = true;
    this.#whenHandedOn?.();
    this.#goOn(this.#callbacks.handedOn);
  }

  #goOn(callback: (() => void) | undefined): void {
    if (callback === undefined || this.#hasGoneOn || this.#isEnded) return;
    this.#order.goOn(() => {
      if (this.#hasGoneOn || this.#isEnded) return;
      this.#hasGoneOn = true;
      callback();
    });
  }

  /** Waits until those before have ended. False: one of them has failed, and its publisher sends this one again, too. */
  *untilFirst(): Flow<boolean> {
    const before = this.#before;
    if (before === undefined) return true;
    if (!before.#isEnded)
      yield new Promise<void>((resolve) => {
        before.#whenEnded = resolve;
      });
    return before.#isAnswered;
  }

  end(isAnswered: boolean): void {
    this.#isEnded = true;
    this.#isAnswered = isAnswered;
    this.#before = undefined;
    this.handedOn();
    this.#whenEnded?.();
    this.#order.ended(this, this.#bytes, isAnswered);
  }
}

/** Accepts a message, and ends its turn when everything is done or has failed. */
export function inOrder(
  ordered: OrderedPublish,
  accepts: () => Flow<void> | undefined,
): Flow<void> | undefined {
  try {
    const rest = accepts();
    if (rest !== undefined) return endBehind(ordered, rest);
    ordered.end(true);
    return undefined;
  } catch (error) {
    ordered.end(false);
    throw error;
  }
}

function* endBehind(ordered: OrderedPublish, rest: Flow<void>): Flow<void> {
  let isDone = false;
  try {
    yield* rest;
    // A message without an answer ends behind those before, too.
    isDone = yield* ordered.untilFirst();
  } finally {
    ordered.end(isDone);
  }
}
