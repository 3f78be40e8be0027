import { type EventSource, globals } from './environment.ts';

/** The sources of a page's events: its window (or worker) and its document, if there are any. */
export interface Page {
  readonly window?: EventSource | undefined;
  readonly document?: EventSource | undefined;
}

export function currentPage(): Page {
  return {
    window: globals.addEventListener === undefined ? undefined : (globals as unknown as EventSource),
    document: globals.document,
  };
}

/**
 * Calls `probe` when the network is back or the page returns from the browser's cache, and `shown` when the page
 * becomes visible. Returns a function that stops this.
 */
export function watchPage({ window, document }: Page, probe: () => void, shown: () => void): () => void {
  const onVisibility = (): void => {
    if (document?.visibilityState === 'visible') shown();
  };
  window?.addEventListener('online', probe);
  window?.addEventListener('pageshow', probe);
  document?.addEventListener('visibilitychange', onVisibility);
  return () => {
    window?.removeEventListener('online', probe);
    window?.removeEventListener('pageshow', probe);
    document?.removeEventListener('visibilitychange', onVisibility);
  };
}
