/** What a view does when its key is pressed. A view that is not open does nothing. */
export type ShortcutAction = 'filter' | 'pause' | 'subscribe' | 'publish';

const actions = new Map<ShortcutAction, () => void>();

/** Gives an action its meaning. Returns how to take it back. */
export function provideShortcut(action: ShortcutAction, run: () => void): () => void {
  actions.set(action, run);
  return () => {
    if (actions.get(action) === run) actions.delete(action);
  };
}

/** @returns whether somebody has done it */
export function runShortcut(action: ShortcutAction): boolean {
  const run = actions.get(action);
  run?.();
  return run !== undefined;
}
