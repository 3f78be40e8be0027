import { isRecording } from './recording-ids.ts';
import { type AppState, useStore } from './store.ts';
import { isViewId, type ViewId } from './view-ids.ts';

/** Views of earlier versions of the page, and the places that have what they showed: bookmarks still lead there. */
const MOVED = new Map<string, Partial<AppState>>([
  ['packets', { viewId: 'wire' }],
  ['frames', { viewId: 'wire' }],
  ['costs', { viewId: 'admin' }],
  ['presence', { viewId: 'tree', topicsTab: 'presence' }],
  ['transfer', { viewId: 'messages', question: { type: 'import' } }],
]);

/** What the address names, as `#/messages`. */
function stateOfAddress(): Partial<AppState> | undefined {
  const [, id = ''] = /^#\/([a-z-]+)$/.exec(location.hash) ?? [];
  if (isViewId(id)) return { viewId: id };
  const { activeId } = useStore.getState();
  if (id === 'connection' && activeId !== undefined && !isRecording(activeId))
    return { viewId: 'messages', question: { type: 'connection', id: activeId } };
  return MOVED.get(id);
}

/** Opens the view that the address names, now and whenever it changes. */
export function followAddress(): void {
  const follow = (): void => {
    const state = stateOfAddress();
    if (state === undefined) return;
    useStore.setState(state);
    history.replaceState(null, '', `#/${state.viewId}`);
  };
  window.addEventListener('hashchange', follow);
  follow();
}

export function openView(viewId: ViewId): void {
  location.hash = `#/${viewId}`;
}
