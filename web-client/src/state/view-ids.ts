/** The views, by their place in the address (`#/messages`), in the order of the navigation. */
export const VIEW_IDS = ['start', 'messages', 'tree', 'charts', 'wire', 'admin'] as const;

export type ViewId = (typeof VIEW_IDS)[number];

export function isViewId(id: string): id is ViewId {
  return VIEW_IDS.some((known) => known === id);
}
