/** Limits of a condition that a client brings with SUBSCRIBE (`where`). Beyond one: 0x83, with the reason. */

/** Characters: some twenty comparisons. A kept session has it in its journal. */
export const WHERE_LENGTH_MAX = 1_024;

/** Nodes of its syntax tree. A condition of an operator may have 500. */
export const WHERE_NODES_MAX = 100;

/** Macros, each within the one before: `a.exists(x, x.list.all(y, y > 1))` has two. */
export const MACROS_NESTED_MAX = 2;

/**
 * Steps of one evaluation (`work.ts`), some two milliseconds. A message for which there may be more does not fit: then nothing is
 * evaluated.
 */
export const WHERE_STEPS_MAX = 2_000_000;

/** An evaluation of more steps is dear. */
export const DEAR_STEPS = 10_000;

/** Steps of all dear evaluations of one message, which nothing interrupts. Beyond it the message fits no dear condition. */
export const DEAR_STEPS_PER_MESSAGE_MAX = 10_000_000;

/** Steps in the time of a delivery, for which a publisher pays as for one. */
export const STEPS_PER_DELIVERY = 3_000;

/** Compiled conditions that are kept, some 10 KB each. Another one takes the place of the one compiled first. */
export const COMPILED_MAX = 1_000;

/** Messages whose verdicts are kept: publishers' messages may be under way side by side. */
export const MESSAGES_MAX = 16;

/** Larger payloads are not read as JSON: `payload` is null. */
export const JSON_BYTES_MAX = 256 * 1024;
