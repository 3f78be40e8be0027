import { create } from 'zustand';
import type { ConnectionProfile, ConnectionStatus, KeepTrouble } from '../engine/types.ts';
import { NO_SITE, type Site } from './endpoints.ts';
import type { ViewId } from './view-ids.ts';

export type TopicsTab = 'topics' | 'presence';

/** A dialog over the page that waits for an answer. */
export type Question =
  /** Secrets that are needed and not stored. */
  | { readonly type: 'secrets'; readonly id: string }
  | { readonly type: 'delete'; readonly id: string }
  /** A connection's configuration. */
  | { readonly type: 'connection'; readonly id: string }
  | { readonly type: 'import' }
  | { readonly type: 'export' }
  | { readonly type: 'shortcuts' }
  | { readonly type: 'new' }
  | { readonly type: 'palette' };

/**
 * The state that the views share. Streams (messages, packets) are in the logs of a `LiveConnection`, which report
 * changes once per frame.
 */
export interface AppState {
  /** Whether the stored data have been read. */
  readonly isReady: boolean;
  /** The broker that the page belongs to. */
  readonly site: Site;
  /** In the order of the navigation. */
  readonly profiles: readonly ConnectionProfile[];
  /** The profile whose connection the views show. */
  readonly activeId: string | undefined;
  readonly viewId: ViewId;
  readonly topicsTab: TopicsTab;
  /** By the profile's id. */
  readonly statuses: Readonly<Record<string, ConnectionStatus>>;
  readonly question: Question | undefined;
  /** The reason why the browser stores nothing, or no more, for this page. */
  readonly storageTrouble: KeepTrouble | undefined;
  /** Whether the page has shown a message since it was opened. */
  readonly isMessageShown: boolean;
}

export const useStore = create<AppState>(() => ({
  isReady: false,
  site: NO_SITE,
  profiles: [],
  activeId: undefined,
  viewId: 'start',
  topicsTab: 'topics',
  statuses: {},
  question: undefined,
  storageTrouble: undefined,
  isMessageShown: false,
}));

/** The largest packet that the server at this address takes, as `config.json` says. */
export function knownPacketBytesMax(url: string): number | undefined {
  const { endpoints } = useStore.getState().site;
  return endpoints.find((endpoint) => endpoint.url === url)?.maximumPacketSizeBytes;
}
