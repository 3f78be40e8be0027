import { useCallback, useSyncExternalStore } from 'react';
import { IDLE_STATUS } from '../engine/idle-status.ts';
import type {
  ConnectionProfile,
  ConnectionStatus,
  LiveConnection,
  MessageLog,
  PacketLog,
} from '../engine/types.ts';
import { connections } from './connections.ts';
import { knownPacketBytesMax, useStore } from './store.ts';

/** The profile that the views show; undefined if there is none yet. */
export function useActiveProfile(): ConnectionProfile | undefined {
  return useStore((state) => state.profiles.find(({ id }) => id === state.activeId));
}

/** Its connection, which exists as long as its profile does, connected or not. */
export function useActiveConnection(): LiveConnection | undefined {
  const id = useStore((state) => state.activeId);
  return id === undefined ? undefined : connections.get(id);
}

/** The connection of an existing profile. */
export function useConnection(id: string): LiveConnection {
  return connections.get(id);
}

/** The status of a connection. Replaced a few times a second at most. */
export function useStatus(id: string | undefined): ConnectionStatus {
  return useStore((state) => (id === undefined ? undefined : state.statuses[id]) ?? IDLE_STATUS);
}

/** The largest packet that the server takes: from CONNACK, or else from `config.json`. */
export function usePacketBytesMax({ id, url }: ConnectionProfile): number | undefined {
  const told = useStatus(id).session?.maximumPacketSizeBytes;
  const known = useStore(() => knownPacketBytesMax(url));
  return told ?? known;
}

/** Renders once per frame while the log changes. Returns the log's end. */
export function useLogEnd(log: MessageLog | undefined): number {
  const subscribe = useCallback((changed: () => void) => log?.onFrame(changed) ?? (() => {}), [log]);
  // Both ends only ever go up: at least one does with an append, and with a clear of what was there.
  useSyncExternalStore(subscribe, () => (log === undefined ? 0 : log.firstSequence + log.endSequence));
  return log?.endSequence ?? 0;
}

/** Renders once per frame while the log changes. Returns the number of changes. */
export function useLogChanges(log: Pick<PacketLog, 'onFrame' | 'changes'>): number {
  const subscribe = useCallback((changed: () => void) => log.onFrame(changed), [log]);
  return useSyncExternalStore(subscribe, () => log.changes);
}
