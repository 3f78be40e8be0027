import type { Hooks } from './stores.ts';

/** Whether a call is the one that a test waits for. */
export type IsDue = (operation: string, input: object) => boolean;

const says = (input: object, what: string) => JSON.stringify(input).includes(what);

/** A record is written as a whole, by itself or in a transaction. */
export const isRecordWrite: IsDue = (operation, input) =>
  (operation === 'PutItem' || operation === 'TransactWriteItems') && says(input, '"s":{"S":"record"}');

/** A message is appended to the log, by itself or with its deduplication record. */
export const isAppend: IsDue = (operation, input) =>
  (operation === 'PutItem' || operation === 'TransactWriteItems') && says(input, '"s":{"S":"wait\\u0000');

/** Runs something once, just before a call. */
export function once(isDue: IsDue, run: () => Promise<unknown>): Hooks {
  let hasRun = false;
  return {
    before: async (operation, input) => {
      if (hasRun || !isDue(operation, input)) return;
      hasRun = true;
      await run();
    },
  };
}

/** Runs something once, when a call has had its effect. */
export function onceAfter(isDue: IsDue, run: () => Promise<unknown>): Hooks {
  const { before } = once(isDue, run);
  return { after: async (operation, input) => await before?.(operation, input) };
}

/** A call that is held up. */
export interface HeldUp {
  readonly hooks: Hooks;
  /** Resolves when it is about to be made. */
  readonly reached: Promise<void>;
  release(): void;
}

export function heldUp(isDue: IsDue): HeldUp {
  let reach = () => {};
  let release = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hooks = once(isDue, async () => {
    reach();
    await isReleased;
  });
  return { hooks, reached, release: () => release() };
}
