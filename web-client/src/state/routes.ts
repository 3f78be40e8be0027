import { useStore } from './store.ts';
import { isViewId, type ViewId } from './view-ids.ts';

/** The view that the address names, as `#/messages`. */
function viewOfAddress(): ViewId | undefined {
  const [, id = ''] = /^#\/([a-z-]+)$/.exec(location.hash) ?? [];
  return isViewId(id) ? id : undefined;
}

/** Opens the view that the address names, now and whenever it changes. */
export function followAddress(): void {
  const follow = (): void => {
    const viewId = viewOfAddress();
    if (viewId !== undefined) useStore.setState({ viewId });
  };
  window.addEventListener('hashchange', follow);
  follow();
}

export function openView(viewId: ViewId): void {
  location.hash = `#/${viewId}`;
}
