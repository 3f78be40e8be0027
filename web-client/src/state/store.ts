import { create } from 'zustand';
import type { ViewId } from '../app/views.ts';
import type { ConnectionProfile, ConnectionStatus } from '../engine/types.ts';

/**
 * What the views share. Streams (messages, packets) are not in here: they are in the logs of a `LiveConnection`, which
 * tell once per frame that they have changed.
 */
export interface AppState {
  /** In the order of the navigation. */
  readonly profiles: readonly ConnectionProfile[];
  /** The profile whose connection the views show. */
  readonly activeId: string | undefined;
  readonly viewId: ViewId;
  /** By the profile's id. */
  readonly statuses: Readonly<Record<string, ConnectionStatus>>;
}

export const useStore = create<AppState>(() => ({
  profiles: [],
  activeId: undefined,
  viewId: 'start',
  statuses: {},
}));
