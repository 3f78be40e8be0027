import { setLayout, useLayout } from '../../state/layout.ts';
import { useStore } from '../../state/store.ts';

/** More columns would be too narrow to read, on any screen. */
export const BESIDE_MAX = 4;

/**
 * The connections whose messages are shown, from the left. The active connection is always among them: if it was not
 * chosen, it takes the first place.
 */
export function shownIds(
  besideIds: readonly string[],
  activeId: string,
  isKnown: (id: string) => boolean,
): readonly string[] {
  const ids = besideIds.filter(isKnown);
  if (ids.length < 2) return [activeId];
  return ids.includes(activeId) ? ids : [activeId, ...ids.slice(1)];
}

/** The connections whose messages are shown, from the left. */
export function useShownIds(activeId: string): readonly string[] {
  const besideIds = useLayout((layout) => layout.besideIds);
  const profiles = useStore((state) => state.profiles);
  return shownIds(besideIds, activeId, (id) => profiles.some((profile) => profile.id === id));
}

/** Shows a connection beside the others, or hides it. */
export function toggleBeside(shown: readonly string[], id: string): void {
  const ids = shown.includes(id) ? shown.filter((other) => other !== id) : [...shown, id];
  setLayout({ besideIds: ids.slice(0, BESIDE_MAX) });
  const { activeId } = useStore.getState();
  // A hidden connection cannot be the active one.
  if (activeId === id && !ids.includes(id)) useStore.setState({ activeId: ids[0] });
}
