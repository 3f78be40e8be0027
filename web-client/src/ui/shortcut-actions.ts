/** A view's action for a key. If the view is not open, the key does nothing. */
export type ShortcutAction = 'filter' | 'pause' | 'subscribe' | 'publish';

/** How long an action waits for its view, whose code may have to be fetched. */
const PATIENCE_MS = 5_000;

const actions = new Map<ShortcutAction, () => void>();
let awaited: { readonly action: ShortcutAction; readonly untilMs: number } | undefined;

/** Registers an action. Returns a function that removes it. */
export function provideShortcut(action: ShortcutAction, run: () => void): () => void {
  actions.set(action, run);
  if (awaited?.action === action) {
    const isInTime = performance.now() <= awaited.untilMs;
    awaited = undefined;
    if (isInTime) run();
  }
  return () => {
    if (actions.get(action) === run) actions.delete(action);
  };
}

/** @returns whether a view has handled it */
export function runShortcut(action: ShortcutAction): boolean {
  const run = actions.get(action);
  run?.();
  return run !== undefined;
}

/** Runs it now, or when its view opens. */
export function runShortcutWhenThere(action: ShortcutAction): void {
  if (!runShortcut(action)) awaited = { action, untilMs: performance.now() + PATIENCE_MS };
}

/** As soon as a view provides it again. */
export function runNextShortcut(action: ShortcutAction): void {
  awaited = { action, untilMs: performance.now() + PATIENCE_MS };
}
